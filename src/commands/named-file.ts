import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CrabError } from '../core/base/errors.ts'
import type { Host } from './host.ts'

/** Largest input of any kind, bytes (the wire's frame limit). */
export const MAX_INPUT_BYTES = 16 * 1024 * 1024

/** All bytes of a file a person named. Throws `no-input` when it cannot be read, `invalid` when it is too large. */
export async function readNamedFile(path: string, host: Host, purpose = ''): Promise<Buffer> {
  try {
    await using file = await open(resolve(host.cwd(), path))
    return await collect(pieces(file), path)
  } catch (cause) {
    throw unreadable(`${path}${purpose}`, cause, 'check the path')
  }
}

/** As readNamedFile(), as text. Throws `invalid` when it is none. */
export async function readNamedText(path: string, host: Host, purpose = ''): Promise<string> {
  return toText(await readNamedFile(path, host, purpose), path)
}

/** All of a stream of bytes, called `name`; each piece is announced. Throws `invalid` when it is too large. */
export async function collect(
  stream: AsyncIterable<Uint8Array>,
  name: string,
  heard = () => {},
): Promise<Buffer> {
  const found: Uint8Array[] = []
  let size = 0
  for await (const piece of stream) {
    heard()
    found.push(piece)
    size += piece.length
    if (size > MAX_INPUT_BYTES) throw tooLarge(name)
  }
  return Buffer.concat(found)
}

/** Bytes as text, kept to the letter. Throws `invalid` for what is no UTF-8 text. */
export function toText(bytes: Uint8Array, name: string): string {
  const nul = bytes.indexOf(0)
  if (nul >= 0) throw notText(name, `there is a NUL byte at offset ${nul}`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw notText(name, 'it is not valid UTF-8')
  }
}

/** Input that does not fit a message at all. */
export function tooLarge(name: string): CrabError {
  return new CrabError(
    'invalid',
    `Cannot send ${name}: it is larger than ${MAX_INPUT_BYTES} bytes, the limit`,
    {
      hint: 'send a part of it, for example through head or tail',
    },
  )
}

/** A failed read as `no-input` that says why in words; a CrabError passes through. */
export function unreadable(name: string, cause: unknown, hint: string): CrabError {
  if (cause instanceof CrabError) return cause
  const { code = '', message } = cause as NodeJS.ErrnoException
  return new CrabError('no-input', `Cannot read ${name}: ${REASONS[code] ?? message}`, { cause, hint })
}

async function* pieces(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES))
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

function notText(name: string, why: string): CrabError {
  return new CrabError('invalid', `Cannot send ${name} as text: ${why}`, {
    hint: 'convert it to UTF-8 text first, for example with iconv',
  })
}

const PIECE_BYTES = 256 * 1024
const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EBADF: 'it is not open for reading',
}
