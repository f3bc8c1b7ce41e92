import { readSync } from 'node:fs'
import { NEWLINE } from '../../storage/session-file.ts'

/** A whole line of a file, without its newline. */
export interface FileLine {
  /** Valid until the next line is asked for; undefined for a line longer than MAX_LINE_BYTES. */
  bytes: Buffer | undefined
  /** Where it begins, and where the next one does. */
  offset: number
  end: number
}

/** Longer lines are not held in memory: pictures and whole files stand in them, not what somebody looks for. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024

/** The whole lines between two bytes of a file; what follows the last newline belongs to a writer. */
export function* fileLines(fd: number, { from, to }: { from: number; to: number }): Generator<FileLine> {
  let buffer = Buffer.allocUnsafe(STEP_BYTES)
  let offset = from // of the line that is being read
  let held = 0 // bytes of it in the buffer
  let skipped = 0 // bytes of it that were let go
  for (;;) {
    const room = Math.min(buffer.length - held, to - offset - skipped - held)
    const read = room > 0 ? readSync(fd, buffer, held, room, offset + skipped + held) : 0
    if (read === 0) return
    const filled = buffer.subarray(0, held + read)
    let start = 0
    for (let stop = filled.indexOf(NEWLINE, held); stop !== -1; stop = filled.indexOf(NEWLINE, start)) {
      const end = offset + skipped + stop + 1 - start
      yield { bytes: skipped === 0 ? filled.subarray(start, stop) : undefined, offset, end }
      offset = end
      skipped = 0
      start = stop + 1
    }
    held = filled.copy(buffer, 0, start)
    if (held < buffer.length) continue
    if (buffer.length < MAX_LINE_BYTES) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)])
    else {
      skipped += held
      held = 0
    }
  }
}

/** What is read at once. */
const STEP_BYTES = 256 * 1024
