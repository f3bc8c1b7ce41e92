import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import {
  fillTemplate,
  listTemplateNames,
  parseVaultWord,
  type VaultWord,
} from '../../core/base/secrets/vault-words.ts'
import { describeSource } from '../../edge/credentials/resolver.ts'
import type { CredentialSource } from '../../edge/credentials/types.ts'
import { checkName } from '../../edge/vault/vault.ts'
import { openCredentials, openVaultHome } from './home.ts'
import { askSecret } from './read-value.ts'

/** Runs `crabtalk vault env`, which MCP servers have as `env_helper`. */
export const envCommand: CommandHandler = async ({ options, host }) => {
  const words = options.args.map(readWord)
  for (const { key, template } of words) {
    if (key !== undefined || /^\$\{[^{}]*\}$/.test(template)) continue
    throw new CrabError('usage', `Cannot print ${template}: it has no variable`, {
      hint: `for example URL=${template}`,
    })
  }
  const texts = await fillAll(words, host)
  const variables = words.map(({ key, template }, i) => [key ?? template.slice(2, -1), texts[i]!])
  host.stdout.write(`${toShownJson(Object.fromEntries(variables))}\n`)
  return 0
}

/** Runs `crabtalk vault header`, which remote MCP servers have as `auth_helper`. */
export const headerCommand: CommandHandler = async ({ options, host }) => {
  const words = options.args.map(readWord)
  const texts = await fillAll(words, host)
  const headers = words.map(({ key }, i) =>
    key === undefined ? ['Authorization', `Bearer ${texts[i]}`] : [key, texts[i]!],
  )
  const isToken = words.length === 1 && words[0]?.key === undefined
  const text = isToken ? texts[0] : toShownJson({ headers: Object.fromEntries(headers) })
  host.stdout.write(`${text}\n`)
  return 0
}

/** Reads a word. Throws `usage` for a name that no credential can have. */
function readWord(word: string): VaultWord {
  if (!word.includes('${')) checkName(word.slice(word.search(/[^= ]*$/)))
  return parseVaultWord(word)
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
 * Replaces the credentials in words by their values. Throws `denied` for those of model providers and logins, and
 * `credentials`, naming the first one that is missing.
 */
async function fillAll(words: readonly VaultWord[], host: Host): Promise<string[]> {
  const named = words.flatMap(({ template }) => listTemplateNames(template))
  for (const { name } of named) checkServerName(name)
  const required = new Set(named.filter(({ fallback }) => fallback === undefined).map(({ name }) => name))
  await using home = await openVaultHome(host)
  const resolver = openCredentials(home, async (name) =>
    required.has(name) ? await askSecret(`Value of ${name} (not shown): `, host) : undefined,
  )
  const values = new Map<string, string | undefined>()
  const fill = (template: string): Promise<string> =>
    fillTemplate(template, async ({ name, fallback }) => {
      if (!values.has(name)) values.set(name, (await resolver.find(name))?.value)
      const value = values.get(name)
      if (value === undefined && fallback === undefined) throw missingCredential(name)
      return value ?? (await fill(fallback!))
    })
  const texts: string[] = []
  for (const { template } of words) texts.push(await fill(template))
  return texts
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
