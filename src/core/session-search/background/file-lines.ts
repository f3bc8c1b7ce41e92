import { readSync } from 'node:fs'
import { NEWLINE } from '../../storage/session-file.ts'

/** A complete line of a file, without its newline. */
export interface FileLine {
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
