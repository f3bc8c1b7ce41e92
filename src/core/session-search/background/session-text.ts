import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type DocumentRow, NO_OFFSET } from '../../search/types.ts'
import { decodeLine, NEWLINE } from '../../storage/session-file.ts'
import { endsLine, readFirstLine } from '../../storage/session-parts.ts'
import { type FileStamp, READ_FLAGS } from '../../storage/session-reader.ts'
import type { ReadPosition, SessionHeader } from '../../storage/types.ts'
import { toDocuments } from '../documents.ts'

/** A document of a session; the caller adds its group. */
export interface SessionDocument {
  row: Omit<DocumentRow, 'group'>
  text: string
}

/**
 * The searchable text of a session file, from its beginning or from a cursor. Can be read only once; dispose
 * it afterwards.
 */
export interface SessionText extends Disposable {
  /** Yields line by line: the documents of messages, and the length of the line in bytes. */
  lines(): Generator<{ documents: readonly SessionDocument[]; bytes: number }>
  /** Returns the title and summary after the lines read so far; an empty text removes the earlier one. */
  descriptions(): Iterable<SessionDocument>
  /** The position up to which the file was read. */
  readonly state: { header: SessionHeader; cursor: ReadPosition; stamp: FileStamp }
}

/**
 * Opens a session file in its current state; returns undefined when the cursor does not fit it. Throws system
 * errors.
 *
 * Reads synchronously: a worker has nothing else to wait for, and consecutive synchronous reads take a tenth
 * of the time.
 */
export function openSessionText(path: string, since: ReadPosition | undefined): SessionText | undefined {
  const fd = openSync(path, READ_FLAGS)
  try {
    const { size, mtimeMs, ino } = fstatSync(fd)
    if (since && !endsLine(fd, since.bytes, size)) {
      closeSync(fd)
      return undefined
    }
    return new OpenText(fd, { stamp: { size, mtimeMs, ino }, since })
  } catch (reason) {
    closeSync(fd)
    throw reason
  }
}

class OpenText implements SessionText {
  readonly #fd: number
  readonly state: SessionText['state']
  readonly #descriptions = new Map<number, SessionDocument>()

  constructor(fd: number, { stamp, since }: { stamp: FileStamp; since: ReadPosition | undefined }) {
    this.#fd = fd
    const { header, end } = readFirstLine(fd, stamp.size)
    this.state = { header, stamp, cursor: since ?? { bytes: end, seq: 0 } }
  }

  *lines(): ReturnType<SessionText['lines']> {
    const { cursor, stamp } = this.state
    for (const line of fileLines(this.#fd, { from: cursor.bytes, to: stamp.size })) {
      yield { documents: this.#toDocuments(line), bytes: line.end - line.offset }
    }
  }

  descriptions(): Iterable<SessionDocument> {
    return this.#descriptions.values()
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }

  #toDocuments({ bytes, offset, end }: FileLine): readonly SessionDocument[] {
    const { header, cursor } = this.state
    const text = bytes ? decodeText(bytes) : TOO_LONG
    const { seq, line } = decodeLine(text, { seq: cursor.seq, createdAt: header.created_at })
    this.state.cursor = { bytes: end, seq }
    if (typeof line !== 'object') return []
    const place = { offset: Math.min(offset, NO_OFFSET), time: Date.parse(line.ts) || 0 }
    const documents = toDocuments(line)
    if (line.kind === 'meta') {
      for (const { kind, text } of documents)
        this.#descriptions.set(kind, { row: { ...place, kind, seq: 0 }, text })
      return []
    }
    return documents.map(({ kind, text }) => ({ row: { ...place, kind, seq }, text }))
  }
}

/** Decodes as an unusable line. */
const TOO_LONG = '…'

/** Buffer's own toString('utf8') takes several times as long. */
function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/** A complete line of a file, without its newline. */
interface FileLine {
  /** Valid until the next line is requested; undefined for a line longer than MAX_LINE_BYTES. */
  bytes: Buffer | undefined
  /** The offset of the line, and that of the next one. */
  offset: number
  end: number
}

/**
 * The maximum line length buffered in memory. Longer lines contain images and whole files, which are not
 * searched.
 */
export const MAX_LINE_BYTES = 32 * 1024 * 1024

/**
 * Yields the complete lines between two byte offsets of a file. Bytes after the last newline are skipped:
 * they may be a write in progress.
 */
export function* fileLines(fd: number, { from, to }: { from: number; to: number }): Generator<FileLine> {
  let buffer = Buffer.allocUnsafe(STEP_BYTES)
  let offset = from // the start of the current line
  let buffered = 0 // the bytes of the line in the buffer
  let skipped = 0 // the bytes of the line that were dropped
  for (;;) {
    const room = Math.min(buffer.length - buffered, to - offset - skipped - buffered)
    const read = room > 0 ? readSync(fd, buffer, buffered, room, offset + skipped + buffered) : 0
    if (read === 0) return
    const filled = buffer.subarray(0, buffered + read)
    let start = 0
    for (let stop = filled.indexOf(NEWLINE, buffered); stop !== -1; stop = filled.indexOf(NEWLINE, start)) {
      const end = offset + skipped + stop + 1 - start
      yield { bytes: skipped === 0 ? filled.subarray(start, stop) : undefined, offset, end }
      offset = end
      skipped = 0
      start = stop + 1
    }
    buffered = filled.copy(buffer, 0, start)
    if (buffered < buffer.length) continue
    if (buffer.length < MAX_LINE_BYTES) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)])
    else {
      skipped += buffered
      buffered = 0
    }
  }
}

/** The size of a single read. */
const STEP_BYTES = 256 * 1024
