import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile } from '../../core/base/files.ts'

function hashSha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * Verifies the checksum of a file: the given one, or the one in `FILE.sha256` or SHA256SUMS beside it. Throws
 * `invalid` when it differs, and when no checksum is known.
 */
export async function verifyFile(path: string, bytes: Uint8Array, given: string | undefined): Promise<void> {
  const expected =
    given === undefined ? await findChecksum(path) : { sum: given.trim().toLowerCase(), from: '--sha256' }
  if (expected === undefined) {
    throw new CrabError('invalid', `Cannot update from ${path}: nothing says what its checksum is`, {
      hint: `put SHA256SUMS or ${basename(path)}.sha256 beside it, or give --sha256`,
    })
  }
  if (!/^[\da-f]{64}$/.test(expected.sum)) {
    throw new CrabError(
      'invalid',
      `Cannot use the checksum of ${expected.from}: it is not 64 hexadecimal digits`,
    )
  }
  if (hashSha256(bytes) === expected.sum) return
  throw new CrabError(
    'invalid',
    `Cannot update from ${path}: it is not the file that ${expected.from} means`,
    {
      hint: 'nothing was changed; fetch it again',
    },
  )
}

/**
 * Finds the checksum beside a file. Lines are `HEX  NAME` as sha256sum writes them; a file named after this
 * one may hold the checksum alone.
 */
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
