import type { CommandHandler } from '../../cli/command.ts'
import { printJson, printLine, printTable } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { KeySource } from '../../edge/vault/types.ts'
import { checkName, openOrCreateVault, openVault } from '../../edge/vault/vault.ts'
import { openVaultHome } from './home.ts'
import { readSecretValue } from './read-value.ts'

/** Runs `crabtalk vault set`. */
export const setCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = ''] = options.args
  checkName(name)
  const value = await readSecretValue(`store ${name}`, `Value of ${name} (not shown): `, host)
  await using home = await openVaultHome(host)
  const { vault, created } = await openOrCreateVault(home, signal)
  if (created) host.stderr.write(`crabtalk: created ${home.paths.vault}; ${describeKeySource(created)}\n`)
  await vault.set({ [name]: value }, signal)
  return printLine(host, `stored ${name}`)
}

/** Runs `crabtalk vault get`. */
export const getCommand: CommandHandler = async ({ options, host }) => {
  const [name = ''] = options.args
  checkName(name)
  if (!host.stdout.isTerminal && !options.has('reveal')) {
    throw new CrabError('denied', `Cannot print ${name}: the output is not a terminal`, {
      hint: '--reveal prints it anyway',
    })
  }
  await using home = await openVaultHome(host)
  const value = await (await openVault(home))?.get(name)
  if (value === undefined) throw notStored(name)
  const text = value.endsWith('\n') ? value : `${value}\n`
  host.stdout.write(host.stdout.isTerminal ? sanitize(text) : text)
  return 0
}

/** Runs `crabtalk vault list`. */
export const listCommand: CommandHandler = async ({ options, host }) => {
  await using home = await openVaultHome(host)
  const items = (await (await openVault(home))?.list()) ?? []
  if (options.has('json')) return printJson(host, items)
  if (items.length === 0) host.stderr.write('No credentials yet: crabtalk vault set NAME stores one\n')
  else await printTable(host, ['NAME', 'CHANGED'], items.map(toRow))
  return 0

  function toRow({ name, updated }: { name: string; updated: string }): string[] {
    return [name, relativeTime(updated, Date.now())]
  }
}

/** Runs `crabtalk vault remove`. */
export const removeCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = ''] = options.args
  checkName(name)
  await using home = await openVaultHome(host)
  const isRemoved = await (await openVault(home))?.remove(name, signal)
  if (!isRemoved) throw notStored(name)
  return printLine(host, `removed ${name}`)
}

/** Describes where the key of a new vault is. */
export function describeKeySource({ keySource }: { keySource: KeySource }): string {
  return {
    environment: 'its key is the one in CRABTALK_VAULT_KEY',
    helper: 'its key is the one that CRABTALK_VAULT_KEY_HELPER prints',
    keychain: 'its key is in the keychain of this system',
    file: 'its key is in a file that only you can read (crabtalk vault status)',
  }[keySource]
}

function notStored(name: string): CrabError {
  return new CrabError('missing', `Cannot find ${name}: the vault does not have it`, {
    hint: `crabtalk vault list shows all names; crabtalk vault set ${name} stores it`,
  })
}
