import { constants, type FileHandle, open } from 'node:fs/promises'
import { decodeHeader, decodeLines, decodeSession, NEWLINE } from './session-file.ts'
import type { ReadPosition, SessionHeader, SessionPart } from './types.ts'

/** The state of a file, by which a changed or replaced file is detected. */
export interface FileStamp {
  size: number
  /** Milliseconds since the epoch, with fractions. */
  mtimeMs: number
  ino: number
}

/**
 * Reads the lines of a session file since a cursor, or all of it when the cursor does not fit. The stamp is
 * taken before the read.
 */
export async function readSessionFile(
  path: string,
  since?: ReadPosition,
): Promise<{ part: SessionPart; stamp: FileStamp }> {
  await using file = await open(path, READ_FLAGS)
  const { size, mtimeMs, ino } = await file.stat()
  const stamp = { size, mtimeMs, ino }
  const grown = since && (await readGrown(file, since, size))
  return { part: grown ?? decodeSession(await readRange(file, 0, size)), stamp }
}

/** Reads the first line of a session file; missing fields take defaults. */
export async function readSessionHeader(path: string): Promise<SessionHeader> {
  await using file = await open(path, READ_FLAGS)
  return await readHeader(file)
}

/** Reads the bytes from `start` to `end`; fewer when the file is shorter. */
export async function readRange(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(end - start)
  let filled = 0
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, start + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

/** Returns undefined when no line ends at the cursor, because the file was replaced or truncated. */
async function readGrown(
  file: FileHandle,
  since: ReadPosition,
  size: number,
): Promise<SessionPart | undefined> {
  if (since.bytes < 1 || since.bytes > size) return undefined
  const bytes = await readRange(file, since.bytes - 1, size)
  if (bytes[0] !== NEWLINE) return undefined
  return decodeLines(bytes.subarray(1), { header: await readHeader(file), since })
}

async function readHeader(file: FileHandle): Promise<SessionHeader> {
  for (let length = FIRST_READ; ; length *= 8) {
    const bytes = await readRange(file, 0, length)
    if (bytes.length < length || bytes.includes(NEWLINE)) return decodeHeader(bytes).header
  }
}

/** The flags session files are opened with; they keep a named pipe in the folder from blocking. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

const FIRST_READ = 4096
