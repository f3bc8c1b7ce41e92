import { Sanitizer } from '../../base/sanitize.ts'
import type { OutputFilter } from '../../process/run-command.ts'

/** The longest line that is held back until it ends. */
const MAX_LINE_CHARS = 65_536

/**
 * Returns a filter that produces what a person would read on a terminal: UTF-8 text without control
 * sequences, and only the last state of a line that was overwritten with carriage returns.
 */
export function outputCleaner(): OutputFilter {
  const sanitizer = new Sanitizer()
  let line = '' // the unfinished last line, which may still be overwritten
  return (piece, isEnd) => {
    const text = `${line}${piece.toString()}`
    const lines = text.lastIndexOf('\n') + 1
    const end = isEnd || text.length - lines > MAX_LINE_CHARS ? text.length : lines
    line = text.slice(end)
    return Buffer.from(sanitizer.push(lastStates(text.slice(0, end))))
  }
}

/** Reduces each line with carriage returns to its last state. */
function lastStates(text: string): string {
  return text.includes('\r') ? text.split('\n').map(lastState).join('\n') : text
}

/** Scans by hand: a regular expression could take minutes on many carriage returns. */
function lastState(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end--
  return line.slice(line.lastIndexOf('\r', Math.max(0, end - 1)) + 1, end)
}
