import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile, replaceFile, toStorageError } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import { newRandomKey } from './key-derivation.ts'
import { findKeychain } from './keychains.ts'
import type { KeySource, VaultHome } from './types.ts'
import type { VaultKeyName } from './vault-file.ts'

/** The variable with the key of the vault: a passphrase, or 32 random bytes as hexadecimal digits or base64. */
export const KEY_VARIABLE = 'CRABTALK_VAULT_KEY'
/** The variable with the command line of a program that prints the key. */
export const HELPER_VARIABLE = 'CRABTALK_VAULT_KEY_HELPER'

/** The key of a vault, and where it came from. */
export interface FoundKey {
  secret: string
  source: KeySource
}

/**
 * Finds the key of a vault: in the environment, from the helper, and else where the vault says that it is. Throws
 * `credentials` when it is not there.
 */
export async function findKey(
  home: VaultHome,
  { key: { source, id }, id: vaultId }: { id: string; key: VaultKeyName },
  signal: AbortSignal,
): Promise<FoundKey> {
  const own = await findUserKey(home, signal)
  if (own) return own
  if (source === 'keychain') {
    const keychain = findKeychain(home)
    const secret = await keychain?.read({ vaultId, id }, signal)
    if (secret !== undefined) return { secret, source }
    throw missingKey(
      home,
      keychain ? `${keychain.title} does not have its key` : 'this system has no keychain',
    )
  }
  if (source === 'file') return { secret: await readKeyFile(home, id), source }
  throw missingKey(home, `neither ${KEY_VARIABLE} nor ${HELPER_VARIABLE} is set`)
}

/** Returns the key that the user keeps, from the environment or the helper; undefined when neither is set. */
export async function findUserKey(home: VaultHome, signal: AbortSignal): Promise<FoundKey | undefined> {
  const key = home.env[KEY_VARIABLE]?.trim()
  if (key) return { secret: key, source: 'environment' }
  const helper = home.env[HELPER_VARIABLE]?.trim()
  return helper ? { secret: await runHelper(home, helper, signal), source: 'helper' } : undefined
}

/** A key that is ready to be used, with the id that its vault stores. */
export interface StoredKey extends FoundKey {
  id: string
}

/**
 * Creates a key and stores it in the keychain or a file, and reads it back; without a source in the first of the two
 * that works. Throws `unavailable` when the keychain was asked for and cannot be used, and `storage`.
 */
export async function storeNewKey(
  home: VaultHome,
  vaultId: string,
  source: 'keychain' | 'file' | undefined,
  signal: AbortSignal,
): Promise<StoredKey> {
  const [id, secret] = [newUlid(), newRandomKey()]
  if (source !== 'file') {
    const keychain = findKeychain(home)
    const problem = keychain ? await keychain.write({ vaultId, id, secret }, signal) : 'this system has none'
    if (problem === undefined) return { id, secret, source: 'keychain' }
    if (source === 'keychain') {
      throw new CrabError('unavailable', `Cannot store the key in the keychain: ${problem}`, {
        hint: 'use --key file, or set CRABTALK_VAULT_KEY',
      })
    }
  }
  await replaceFile(keyFile(home, id), `${secret}\n`)
  return { id, secret, source: 'file' }
}

/** Removes a key that no vault uses any more. Never fails: such a key opens nothing. */
export async function removeKey(
  home: VaultHome,
  vaultId: string,
  { source, id }: VaultKeyName,
  signal: AbortSignal,
): Promise<void> {
  if (source === 'keychain') await findKeychain(home)?.remove({ vaultId, id }, signal)
  if (source === 'file') await rm(keyFile(home, id), { force: true }).catch(() => undefined)
}

/** Returns the path of a key file. */
export function keyFile({ paths }: Pick<VaultHome, 'paths'>, id: string): string {
  return join(paths.vaultKeys, `${id}.key`)
}

async function readKeyFile(home: VaultHome, id: string): Promise<string> {
  const path = keyFile(home, id)
  try {
    await refuseReadableFile(home, path)
    const secret = (await readFile(path, 'utf8')).trim()
    if (secret !== '') return secret
  } catch (reason) {
    if (!isMissingFile(reason)) throw toStorageError(`Cannot read ${path}`, reason)
  }
  throw missingKey(home, `its key file ${path} is missing or empty`)
}

async function refuseReadableFile({ platform }: VaultHome, path: string): Promise<void> {
  if (platform === 'win32' || ((await stat(path)).mode & 0o077) === 0) return
  throw new CrabError('credentials', `Cannot use ${path}: other users can read it`, {
    hint: `chmod 600 ${path}, then crabtalk vault rotate-key`,
  })
}

async function runHelper(home: VaultHome, line: string, signal: AbortSignal): Promise<string> {
  const what = `Cannot get the key of ${home.paths.vault}: ${HELPER_VARIABLE}`
  const argv = splitWords(line)
  const {
    code,
    signal: killedBy,
    stdout,
    stderr,
  } = await home.run(argv, { env: home.env, timeoutMs: HELPER_MS }, signal).catch((reason: unknown) => {
    if (!(reason instanceof CrabError) || reason.kind === 'cancelled') throw reason
    throw new CrabError('credentials', `${what} failed: ${reason.message.replace(/^Cannot/, 'cannot')}`)
  })
  const first = stderr.trim().split('\n')[0]!.slice(0, 200)
  if (code !== 0) {
    const how = code === null ? `was killed by ${killedBy}` : `exited with code ${code}`
    throw new CrabError('credentials', `${what} ${how}${first === '' ? '' : `: ${first}`}`)
  }
  const secret = stdout.trim()
  if (secret === '') throw new CrabError('credentials', `${what} printed nothing`)
  return secret
}

/** Splits a command line into words at spaces; single and double quotes keep them together. */
function splitWords(line: string): [string, ...string[]] {
  const words = [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )
  const [program = line, ...args] = words
  return [program, ...args]
}

function missingKey({ paths }: VaultHome, why: string): CrabError {
  return new CrabError('credentials', `Cannot open ${paths.vault}: ${why}`, {
    hint: `set ${KEY_VARIABLE} to its key, or ${HELPER_VARIABLE} to a program that prints it`,
  })
}

const HELPER_MS = 30_000
