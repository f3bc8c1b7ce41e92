import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { createFile, isMissingFile, toStorageError } from '../base/files.ts'
import { sha256 } from '../base/sha256.ts'

const TOKEN_BYTES = 32

/** The token that TCP clients show, from `tcp.token` in this folder; made there (256 bits, mode 0600) when it is missing. */
export async function readOrCreateToken(run: string): Promise<string> {
  const path = tokenFile(run)
  const fresh = Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString('hex')
  return (await createFile(path, `${fresh}\n`)) ? fresh : await readToken(run)
}

/** The token in that folder. `missing` when no daemon has made one, `config` when the file holds none. */
export async function readToken(run: string): Promise<string> {
  const path = tokenFile(run)
  const token = await readFile(path, 'utf8').catch((reason: unknown) => {
    if (!isMissingFile(reason)) throw toStorageError(`Cannot read ${path}`, reason)
    throw new CrabError('missing', `Cannot read the token of the daemon: there is no ${path}`, {
      hint: 'start the daemon with --tcp, it makes one',
    })
  })
  if (/^[!-~]{32,512}\s*$/.test(token)) return token.trimEnd()
  throw new CrabError(
    'config',
    `Cannot use the token in ${path}: it is not 32 to 512 visible ASCII characters`,
    {
      hint: 'remove the file; the daemon makes a new one when it starts',
    },
  )
}

/** Compares in a time that tells nothing about where two tokens differ. */
export function isSameToken(a: string, b: string): boolean {
  const [x, y] = [sha256(a), sha256(b)]
  return x.reduce((difference, byte, index) => difference | (byte ^ y[index]!), 0) === 0
}

function tokenFile(run: string): string {
  return join(run, 'tcp.token')
}
