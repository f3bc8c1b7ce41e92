import { constants, type FileHandle, open } from 'node:fs/promises'
import { decodeHeader, decodeLines, decodeSession, NEWLINE } from './session-file.ts'
import type { ReadPosition, SessionHeader, SessionPart } from './types.ts'

/** What tells a file from what it was: it grows, or it is another. */
export interface FileStamp {
  size: number
  /** Milliseconds since the epoch, with fractions. */
  mtimeMs: number
  ino: number
}

/** What a session file holds since a cursor, or all of it when the cursor does not fit; the stamp is of before the read. */
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

/** The first line of a session file, with defaults for what is missing. */
export async function readSessionHeader(path: string): Promise<SessionHeader> {
  await using file = await open(path, READ_FLAGS)
  return await readHeader(file)
}

/** The bytes from `start` to `end`; fewer when the file is shorter. */
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

/** Undefined when no line ends where the cursor stands: the file was replaced, or cut. */
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

/** How session files are opened: a pipe that lies among them holds nobody up. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

const FIRST_READ = 4096
