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
  const values = await findAll(options.args, host)
  host.stdout.write(`${toShownJson(Object.fromEntries(values))}\n`)
  return 0
}

/** Runs `crabtalk vault header`, which remote MCP servers have as `auth_helper`. */
export const headerCommand: CommandHandler = async ({ options, host }) => {
  const [[, value]] = (await findAll(options.args, host)) as [[string, string]]
  host.stdout.write(`${value}\n`)
  return 0
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

/** Resolves credentials. Throws `credentials`, naming the first one that is missing. */
async function findAll(names: readonly string[], host: Host): Promise<[name: string, value: string][]> {
  await using home = await openVaultHome(host)
  const resolver = openCredentials(home, (name) => askSecret(`Value of ${name} (not shown): `, host))
  const values: [string, string][] = []
  for (const name of names) {
    checkName(name)
    const credential = await resolver.find(name)
    if (!credential) throw missingCredential(name)
    values.push([name, credential.value])
  }
  return values
}

function missingCredential(name: string): CrabError {
  return new CrabError(
    'credentials',
    `Cannot find ${name}: neither the vault nor .env nor the environment has it`,
    { hint: `crabtalk vault set ${name}` },
  )
}
