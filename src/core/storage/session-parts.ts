import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { decodeHeader, decodeLines, decodeSession, NEWLINE } from './session-file.ts'
import { type FileStamp, READ_FLAGS } from './session-reader.ts'
import type { ReadPosition, SessionPart } from './types.ts'

/**
 * Reads a session file like readSessionFile(), in consecutive parts of about PART_BYTES, so that the caller
 * can do other work between them. Throws system errors.
 *
 * Reads synchronously: over many small files, asynchronous calls take up to ten times as long.
 */
export function* readSessionParts(
  path: string,
  since: ReadPosition | undefined,
): Generator<{ part: SessionPart; stamp: FileStamp }> {
  const fd = openSync(path, READ_FLAGS)
  try {
    const { size, mtimeMs, ino } = fstatSync(fd)
    const stamp = { size, mtimeMs, ino }
    let part = since && endsLine(fd, since.bytes, size) ? grownPart(fd, since, size) : wholePart(fd, size)
    for (;;) {
      yield { part, stamp }
      const { header, cursor } = part
      const bytes = readLines(fd, cursor.bytes, size)
      if (bytes.length === 0) return
      part = decodeLines(bytes, { header, since: cursor })
    }
  } finally {
    closeSync(fd)
  }
}

/** Whether a complete line ends at this byte of a file. */
export function endsLine(fd: number, end: number, size: number): boolean {
  if (end < 1 || end > size) return false
  const last = Buffer.allocUnsafe(1)
  return readSync(fd, last, 0, 1, end - 1) === 1 && last[0] === NEWLINE
}

/** Reads the first line of an open session file, like decodeHeader(). */
export function readFirstLine(fd: number, size: number): ReturnType<typeof decodeHeader> {
  for (let length = FIRST_READ; ; length *= 8) {
    const bytes = readRange(fd, 0, Math.min(length, size))
    if (length >= size || bytes.includes(NEWLINE)) return decodeHeader(bytes)
  }
}

function grownPart(fd: number, since: ReadPosition, size: number): SessionPart {
  const { header } = readFirstLine(fd, size)
  return decodeLines(readLines(fd, since.bytes, size), { header, since })
}

function wholePart(fd: number, size: number): SessionPart {
  return decodeSession(readLines(fd, 0, size))
}

/** Reads complete lines: as many as fit into PART_BYTES, or one longer line; empty when there is none. */
function readLines(fd: number, from: number, size: number): Buffer {
  for (let length = PART_BYTES; ; length *= 8) {
    const bytes = readRange(fd, from, Math.min(from + length, size))
    const end = bytes.lastIndexOf(NEWLINE) + 1
    if (end > 0 || from + length >= size) return bytes.subarray(0, end)
  }
}

/** Reads the bytes from `start` to `end`; fewer when the file was truncated. */
function readRange(fd: number, start: number, end: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, end - start))
  let filled = 0
  while (filled < buffer.length) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, start + filled)
    if (count === 0) break
    filled += count
  }
  return buffer.subarray(0, filled)
}

const FIRST_READ = 4096
/** The bytes of a part, which take about 2 ms to decode. */
const PART_BYTES = 128 * 1024
