import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { printJson, printLine } from '../../cli/print.ts'
import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { keyFile } from '../../edge/vault/key-sources.ts'
import { KEY_SOURCES, type KeySource } from '../../edge/vault/types.ts'
import {
  createVault,
  type NewKey,
  readVaultStatus,
  rotateVaultKey,
  type VaultStatus,
} from '../../edge/vault/vault.ts'
import { type OpenVaultHome, openVaultHome } from './home.ts'
import { describeKeySource } from './items.ts'
import { readSecretTwice } from './read-value.ts'

/** Runs `crabtalk vault init`. */
export const initCommand: CommandHandler = async ({ options, host, signal }) => {
  await using home = await openVaultHome(host)
  const keySource = await createVault(home, readSource(options), signal)
  if (keySource === undefined) {
    throw new CrabError('conflict', `Cannot create ${home.paths.vault}: there is a vault already`, {
      hint: 'crabtalk vault rotate-key gives it a new key; crabtalk vault status shows the one it has',
    })
  }
  if (options.has('json')) return printJson(host, { path: home.paths.vault, key: keySource })
  return printLine(host, `created ${home.paths.vault}; ${describeKeySource({ keySource })}`)
}

/** Runs `crabtalk vault rotate-key`. */
export const rotateKeyCommand: CommandHandler = async ({ options, host, signal }) => {
  await using home = await openVaultHome(host)
  const status = await readVaultStatus(home, signal)
  if (status?.problem) throw status.problem
  const source = readSource(options) ?? status?.keySource ?? 'file'
  const isKept = source === 'environment' || source === 'helper'
  const task = 'change the key of the vault'
  const next: NewKey = isKept
    ? { source, secret: (await readSecretTwice(task, 'key', host)).trim() }
    : { source }
  await rotateVaultKey(home, next, signal)
  if (isKept) {
    host.stderr.write(`crabtalk: from now on ${VARIABLES[source]} must give the new key\n`)
  } else if (status?.openedWith === 'environment' || status?.openedWith === 'helper') {
    const name = VARIABLES[status.openedWith]
    host.stderr.write(`crabtalk: unset ${name}: its key no longer opens the vault\n`)
  }
  return printLine(host, `the vault has a new key; ${describeKeySource({ keySource: source })}`)
}

const VARIABLES = { environment: 'CRABTALK_VAULT_KEY', helper: 'CRABTALK_VAULT_KEY_HELPER' }

/** Runs `crabtalk vault status`. Exits with the code of the problem when the key does not fit. */
export const statusCommand: CommandHandler = async ({ options, host, signal }) => {
  await using home = await openVaultHome(host)
  const status = await readVaultStatus(home, signal)
  const exit = status?.problem ? ERROR_KINDS[status.problem.kind].exit : 0
  if (options.has('json')) {
    printJson(host, {
      path: home.paths.vault,
      exists: status !== undefined,
      id: status?.id ?? null,
      key: status ? { source: status.keySource, id: status.keyId } : null,
      opened_with: status?.openedWith ?? null,
      problem: status?.problem?.message ?? null,
      credentials: status?.count ?? null,
    })
    return exit
  }
  printLine(
    host,
    `file         ${home.paths.vault}${status ? '' : ' (none yet: crabtalk vault set NAME creates it)'}`,
  )
  if (!status) return exit
  printLine(host, `key          ${describePlace(status, home)}`)
  const { problem, count: stored = 0 } = status
  printLine(host, `opens        ${problem ? `no: ${problem.message}` : 'yes'}`)
  if (problem?.hint !== undefined) printLine(host, `             ${problem.hint}`)
  if (!problem) printLine(host, `credentials  ${stored}`)
  return exit
}

function describePlace({ keySource, keyId, openedWith }: VaultStatus, home: OpenVaultHome): string {
  const place = {
    environment: 'CRABTALK_VAULT_KEY',
    helper: 'CRABTALK_VAULT_KEY_HELPER',
    keychain: `the keychain of this system, entry ${keyId}`,
    file: keyFile(home, keyId),
  }
  const isOther = openedWith !== undefined && openedWith !== keySource
  return isOther ? `${place[openedWith]} (without it: ${place[keySource]})` : place[keySource]
}

function readSource(options: ParsedOptions): KeySource | undefined {
  return KEY_SOURCES.find((source) => source === options.value('key'))
}
