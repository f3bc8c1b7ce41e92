import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import { describeSource } from '../../edge/credentials/resolver.ts'
import type { CredentialSource } from '../../edge/credentials/types.ts'
import { checkName } from '../../edge/vault/vault.ts'
import { openCredentials, openVaultHome } from './home.ts'
import { askSecret } from './read-value.ts'

/** Runs `crabtalk vault env`, which MCP servers have as `env_helper`. */
export const envCommand: CommandHandler = async ({ options, host }) => {
  const words = options.args.map((word) => readAssignment(word))
  const values = await findAll(
    words.map(({ name }) => name),
    host,
  )
  const variables = words.map(({ key, name }): [string, string] => [key ?? name, values.get(name)!])
  host.stdout.write(`${toShownJson(Object.fromEntries(variables))}\n`)
  return 0
}

/** Runs `crabtalk vault header`, which remote MCP servers have as `auth_helper`. */
export const headerCommand: CommandHandler = async ({ options, host }) => {
  const words = options.args.map((word) => readAssignment(word))
  const values = await findAll(
    words.map(({ name }) => name),
    host,
  )
  const headers = words.map(({ key, prefix, name }): [string, string] => [
    key ?? 'Authorization',
    `${key === undefined ? 'Bearer ' : prefix}${values.get(name)}`,
  ])
  const [{ key, name }] = words as [Assignment]
  const isToken = words.length === 1 && key === undefined
  const text = isToken ? values.get(name) : toShownJson({ headers: Object.fromEntries(headers) })
  host.stdout.write(`${text}\n`)
  return 0
}

/** A credential under another name: of a variable, or of a header with text before the credential. */
interface Assignment {
  key: string | undefined
  /** Ends with a space, or is empty. */
  prefix: string
  name: string
}

/** Reads `NAME`, `VARIABLE=NAME`, or `HEADER=PREFIX NAME`. */
function readAssignment(word: string): Assignment {
  const [, key, prefix = '', name = word] = /^([^=]+)=(.* )?([^ ]*)$/.exec(word) ?? []
  return { key, prefix, name }
}

/** Runs `crabtalk vault explain`. */
export const explainCommand: CommandHandler = async ({ options, host }) => {
  await using home = await openVaultHome(host)
  const resolver = openCredentials(home)
  const found: { name: string; source: CredentialSource | undefined }[] = []
  for (const name of options.args) {
    checkName(name)
    found.push({ name, source: (await resolver.find(name))?.source })
  }
  if (options.has('json')) {
    printJson(
      host,
      found.map(({ name, source }) => ({ name, source: source ?? null })),
    )
  } else {
    const rows = found.map(({ name, source }) => [
      name,
      source ? describeSource(source) : `missing: crabtalk vault set ${name}`,
    ])
    await printTable(host, ['NAME', 'SOURCE'], rows)
  }
  return found.some(({ source }) => source === undefined) ? 1 : 0
}

/**
 * Resolves credentials for a server. Throws `denied` for those of model providers and logins, and `credentials`, naming
 * the first one that is missing.
 */
async function findAll(names: readonly string[], host: Host): Promise<Map<string, string>> {
  for (const name of names) checkServerName(name)
  await using home = await openVaultHome(host)
  const resolver = openCredentials(home, (name) => askSecret(`Value of ${name} (not shown): `, host))
  const values = new Map<string, string>()
  for (const name of names) {
    const credential = await resolver.find(name)
    if (!credential) throw missingCredential(name)
    values.set(name, credential.value)
  }
  return values
}

function checkServerName(name: string): void {
  checkName(name)
  if (!/^(oauth|provider):/i.test(name)) return
  throw new CrabError('denied', `Cannot give ${name} to a server: it is not a credential of a server`, {
    hint: 'crabtalk mcp token NAME gives the token of a login',
  })
}

function missingCredential(name: string): CrabError {
  return new CrabError(
    'credentials',
    `Cannot find ${name}: neither the vault nor .env nor the environment has it`,
    { hint: `crabtalk vault set ${name}` },
  )
}
