import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile } from '../../core/base/files.ts'

/** SHA-256 in hexadecimal. */
function hashSha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * Holds a file against what was said of it: the checksum given, or else that in `FILE.sha256` or in SHA256SUMS beside it.
 * Fails with `invalid` when it is another file, and when nothing says what it should be.
 */
export async function verifyFile(path: string, bytes: Uint8Array, given: string | undefined): Promise<void> {
  const wanted =
    given === undefined ? await findChecksum(path) : { sum: given.trim().toLowerCase(), from: '--sha256' }
  if (wanted === undefined) {
    throw new CrabError('invalid', `Cannot update from ${path}: nothing says what its checksum is`, {
      hint: `put SHA256SUMS or ${basename(path)}.sha256 beside it, or give --sha256`,
    })
  }
  if (!/^[\da-f]{64}$/.test(wanted.sum)) {
    throw new CrabError(
      'invalid',
      `Cannot use the checksum of ${wanted.from}: it is not 64 hexadecimal digits`,
    )
  }
  if (hashSha256(bytes) === wanted.sum) return
  throw new CrabError('invalid', `Cannot update from ${path}: it is not the file that ${wanted.from} means`, {
    hint: 'nothing was changed; fetch it again',
  })
}

/** Lines are `HEX  NAME` as sha256sum writes them; a file of its own may have the sum alone. */
async function findChecksum(path: string): Promise<{ sum: string; from: string } | undefined> {
  const name = basename(path)
  for (const file of [`${path}.sha256`, join(dirname(path), 'SHA256SUMS')]) {
    const text = await readFile(file, 'utf8').catch((reason) => {
      if (isMissingFile(reason)) return ''
      throw reason
    })
    const rows = text.split('\n').map((line) => line.trim().split(/\s+\*?/))
    const row = rows.find(([sum = '', of]) => sum !== '' && (of === undefined || of === name))
    if (row?.[0]) return { sum: row[0].toLowerCase(), from: basename(file) }
  }
  return undefined
}
