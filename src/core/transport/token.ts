import { lstat, readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { createFile, isMissingFile, replaceFile, toStorageError } from '../base/files.ts'
import { sha256 } from '../base/sha256.ts'

const TOKEN_BYTES = 32

/** The token of a daemon, and the reason why the previous one was replaced. */
export interface OwnToken {
  token: string
  /**
   * The reason why the token in the file was not used, as part of a sentence: `its mode 644 lets other users
   * read it`.
   */
  replaced?: string
}

/**
 * Reads the token for TCP clients from `tcp.token` in this folder, or creates it (256 bits, mode 0600).
 * Replaces a token that others may have read or could guess.
 */
export async function readOrCreateToken(run: string): Promise<OwnToken> {
  const path = tokenFile(run)
  const found = await inspectToken(path)
  if (found === undefined) {
    const fresh = freshToken()
    if (await createFile(path, `${fresh}\n`)) return { token: fresh }
    return { token: await readToken(run) }
  }
  return 'token' in found ? { token: found.token } : { token: await replaceToken(run), replaced: found.why }
}

/** Replaces the token in this folder; the old one becomes invalid. */
export async function replaceToken(run: string): Promise<string> {
  const fresh = freshToken()
  await replaceFile(tokenFile(run), `${fresh}\n`)
  return fresh
}

/**
 * Reads the token in this folder. Throws `missing` when no daemon has created one, and `config` when it is
 * unsafe to use.
 */
export async function readToken(run: string): Promise<string> {
  const path = tokenFile(run)
  const found = await inspectToken(path)
  if (found === undefined) {
    throw new CrabError('missing', `Cannot read the daemon's token: ${path} does not exist`, {
      hint: 'start the daemon with --tcp, which creates one',
    })
  }
  if ('token' in found) return found.token
  throw new CrabError('config', `Cannot use the token in ${path}: ${found.why}`, {
    hint: 'restart the daemon; it creates a new one',
  })
}

/** Compares two tokens in constant time. */
export function isSameToken(a: string, b: string): boolean {
  const [x, y] = [sha256(a), sha256(b)]
  return x.reduce((difference, byte, index) => difference | (byte ^ y[index]!), 0) === 0
}

/** Returns the path of the token in this folder. */
export function tokenFile(run: string): string {
  return join(run, 'tcp.token')
}

function freshToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString('hex')
}

/** Reads a token, or the reason why it must not be used; undefined when there is no file. */
async function inspectToken(path: string): Promise<{ token: string } | { why: string } | undefined> {
  try {
    const stat = await lstat(path)
    if (!stat.isFile()) return { why: 'it is not a regular file' }
    if (isLoose(stat.mode))
      return { why: `its mode ${(stat.mode & 0o777).toString(8)} lets other users read it` }
    const token = (await readFile(path, 'utf8')).trimEnd()
    const weakness = findWeakness(token)
    return weakness === undefined ? { token } : { why: weakness }
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw toStorageError(`Cannot read ${path}`, reason)
  }
}

/** Whether other users may access a file; Windows has no such modes. */
function isLoose(mode: number): boolean {
  return platform() !== 'win32' && (mode & 0o077) !== 0
}

/** Returns the reason why a token could be guessed, if any. */
function findWeakness(token: string): string | undefined {
  if (!/^[!-~]{32,512}$/.test(token)) return 'it is not 32 to 512 visible ASCII characters'
  const isRepeated = /^(.{1,16}?)\1+.{0,15}$/.test(token)
  return isRepeated || new Set(token).size < MIN_DISTINCT ? 'it does not look random' : undefined
}

/** The minimum number of distinct characters; one in a million random tokens of 32 hexadecimal digits has fewer. */
const MIN_DISTINCT = 8
