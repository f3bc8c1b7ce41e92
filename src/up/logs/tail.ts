import { type FileHandle, open } from 'node:fs/promises'

/** A position in a file. */
export interface FileOffset {
  /** The inode of the file. */
  id: bigint
  /** The offset after the last whole line, in bytes. */
  offset: number
}

/** The last lines of a file. */
export interface TailLines {
  lines: string[]
  /** The text after the last line break; often empty. */
  rest: string
  to: FileOffset
}

/** Reads the last `most` lines of a file; undefined when it does not exist or cannot be read. */
export async function readLastLogLines(path: string, most: number): Promise<TailLines | undefined> {
  try {
    await using file = await open(path, 'r')
    const { size, ino } = await file.stat({ bigint: true })
    const { bytes, isWhole } = await readEnd(file, Number(size), most)
    const end = bytes.lastIndexOf(LF) + 1
    const all = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1)
    const lines = isWhole ? all : all.slice(1) // the first line may be incomplete
    return {
      lines: most === 0 ? [] : lines.slice(-most),
      rest: bytes.subarray(end).toString('utf8'),
      to: { id: ino, offset: Number(size) - bytes.length + end },
    }
  } catch {
    return undefined
  }
}

/**
 * Reads backwards until the bytes hold `most` whole lines and the end of the line before, or the whole file.
 */
async function readEnd(
  file: FileHandle,
  size: number,
  most: number,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const pieces: Buffer[] = []
  let breaks = 0
  let at = size
  while (at > 0 && breaks <= most) {
    const piece = Buffer.alloc(Math.min(CHUNK_BYTES, at))
    at -= piece.length
    await file.read(piece, 0, piece.length, at)
    pieces.unshift(piece)
    for (const byte of piece) if (byte === LF) breaks += 1
  }
  return { bytes: Buffer.concat(pieces), isWhole: at === 0 }
}

const LF = 0x0a
const CHUNK_BYTES = 64 * 1024
