import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { toCancelledError } from '../core/base/abortable.ts'
import { CrabError } from '../core/base/errors.ts'
import { getErrorCode } from '../core/base/system-error.ts'
import { MAX_FRAME_BYTES } from '../core/protocol/frame.ts'
import type { Host } from './host.ts'

/** The maximum size in bytes of all input of one message: a frame, less 1 MiB for everything else in it. */
export const MAX_INPUT_BYTES = MAX_FRAME_BYTES - 1024 * 1024

/** A file that the user named, and its purpose as an error states it: ` for --schema`. */
export interface NamedFile {
  path: string
  purpose?: string
}

/**
 * Reads all bytes of a file that the user named, or of a pipe (`<(command)`, a FIFO), whose writer is waited
 * for.
 *
 * Throws `no-input` when it cannot be read, `invalid` when it is too large.
 */
export async function readNamedFile(
  { path, purpose = '' }: NamedFile,
  host: Pick<Host, 'cwd'>,
  signal: AbortSignal,
): Promise<Buffer> {
  const absolute = resolve(host.cwd(), path)
  try {
    await using file = await open(absolute, constants.O_RDONLY | constants.O_NONBLOCK)
    const isAwaited = (await file.stat()).isFIFO() && (await hasName(absolute))
    return await readStream(readPieces(file, isAwaited, signal), path)
  } catch (cause) {
    if (signal.aborted) throw toCancelledError(signal)
    throw unreadable(`${path}${purpose}`, cause, 'check the path')
  }
}

/** Reads a file as `readNamedFile()` does, as text. Throws `invalid` when it is not text. */
export async function readNamedText(file: NamedFile, host: Host, signal: AbortSignal): Promise<string> {
  return toText(await readNamedFile(file, host, signal), file.path)
}

/**
 * Reads a whole stream of bytes called `name`, and reports each piece. Throws `invalid` when it is too large.
 */
export async function readStream(
  stream: AsyncIterable<Uint8Array>,
  name: string,
  onPiece = () => {},
): Promise<Buffer> {
  const found: Uint8Array[] = []
  let size = 0
  for await (const piece of stream) {
    onPiece()
    found.push(piece)
    size += piece.length
    if (size > MAX_INPUT_BYTES) throw tooLarge(name)
  }
  return Buffer.concat(found)
}

/** Decodes bytes exactly, as text. Throws `invalid` when they are not UTF-8 text. */
export function toText(bytes: Uint8Array, name: string): string {
  const nul = bytes.indexOf(0)
  if (nul >= 0) throw notText(name, `there is a NUL byte at offset ${nul}`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw notText(name, 'it is not valid UTF-8')
  }
}

/** Returns the error for input that does not fit a message, with its size if that is known. */
export function tooLarge(name: string, size?: number): CrabError {
  const larger = size === undefined ? 'it is larger than' : `its ${size} bytes are more than`
  return new CrabError('invalid', `Cannot send ${name}: ${larger} ${MAX_INPUT_BYTES} bytes, the limit`, {
    hint: 'send a part of it, for example through head or tail',
  })
}

/** Converts a failed read to a `no-input` error that explains the reason; returns a CrabError unchanged. */
export function unreadable(name: string, cause: unknown, hint: string): CrabError {
  if (cause instanceof CrabError) return cause
  const why = REASONS[getErrorCode(cause)] ?? (cause instanceof Error ? cause.message : String(cause))
  return new CrabError('no-input', `Cannot read ${name}: ${why}`, { cause, hint })
}

/**
 * Reads without blocking, so that the signal is noticed while nothing is written. While a writer is waited
 * for, an end of file only means that none has opened the pipe yet.
 */
async function* readPieces(
  file: FileHandle,
  isAwaited: boolean,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let waits = isAwaited
  for (;;) {
    signal.throwIfAborted()
    const piece = await readPiece(file)
    const isEnd = piece?.length === 0
    if (isEnd && !waits) return
    if (piece === undefined || isEnd) {
      const { setTimeout: sleep } = await import('node:timers/promises')
      await sleep(RETRY_MS)
    } else yield piece
    waits &&= isEnd
  }
}

/** Reads what is available now: nothing at the end, undefined while more may be written. */
async function readPiece(file: FileHandle): Promise<Uint8Array | undefined> {
  try {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES))
    return buffer.subarray(0, bytesRead)
  } catch (reason) {
    if (getErrorCode(reason) === 'EAGAIN') return undefined
    throw reason
  }
}

/**
 * Whether a pipe has a path in the file system; one that a shell opened for us, whose writer exists already
 * or is gone, does not.
 */
async function hasName(path: string): Promise<boolean> {
  const real = await realpath(path).catch(() => DESCRIPTORS) // Linux resolves it to a name that does not exist
  return !real.startsWith(DESCRIPTORS)
}

function notText(name: string, why: string): CrabError {
  return new CrabError('invalid', `Cannot send ${name} as text: ${why}`, {
    hint: 'convert it to UTF-8 text first, for example with iconv',
  })
}

const PIECE_BYTES = 256 * 1024
const RETRY_MS = 5
const DESCRIPTORS = '/dev/fd/'
const REASONS: Record<string, string> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EBADF: 'it is not open for reading',
  ENXIO: 'it is a socket',
  ELOOP: 'it is a symbolic link that leads back to itself',
}
