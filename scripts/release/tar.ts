import { gzipSync } from 'node:zlib'
import { type Entry, inOrder } from './file-tree.ts'

const BLOCK = 512
const MAX_NAME_BYTES = 100
/** 1985-10-26, the time npm uses: some systems treat 1970 as no time at all. */
const TIME = 499_162_500

/** Makes a gzipped tar (POSIX ustar), without the time, owner or system of this machine. */
export function makeTarGz(entries: readonly Entry[]): Buffer {
  return gzipSync(makeTar(entries), { level: 9 })
}

function makeTar(entries: readonly Entry[]): Buffer {
  const parts = inOrder(entries).flatMap((entry) => {
    const bytes = 'bytes' in entry ? entry.bytes : new Uint8Array()
    return [head(entry, bytes.length), bytes, Buffer.alloc(-bytes.length & (BLOCK - 1))]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}

function head(entry: Entry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  const isLink = 'link' in entry
  const mode = isLink ? 0o777 : entry.executable ? 0o755 : 0o644
  block.write(checkName(entry.path), 0)
  block.write(octal(mode, 7), 100)
  block.write(octal(0, 7), 108) // owner
  block.write(octal(0, 7), 116) // group
  block.write(octal(size, 11), 124)
  block.write(octal(TIME, 11), 136)
  block.write(isLink ? '2' : '0', 156)
  if (isLink) block.write(checkName(entry.link), 157)
  block.write('ustar\x0000', 257)
  block.fill(' ', 148, 156) // the checksum counts itself as spaces
  block.write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
    148,
  )
  return block
}

function checkName(path: string): string {
  if (Buffer.byteLength(path) <= MAX_NAME_BYTES) return path
  throw new Error(`Cannot put ${path} into an archive: its name is too long`)
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}
