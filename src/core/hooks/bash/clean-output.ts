import { Sanitizer } from '../../base/sanitize.ts'
import type { OutputFilter } from '../../process/run-command.ts'

/** Longest line that is held until it ends. */
const MAX_LINE_CHARS = 65_536

/**
 * Makes a filter that gives what a person would read on a terminal: text in UTF-8 without control sequences, and of a
 * line that was written over again and again only the last state.
 */
export function outputCleaner(): OutputFilter {
  const sanitizer = new Sanitizer()
  let line = '' // not ended yet, so it may still be written over
  return (piece, isEnd) => {
    const text = `${line}${piece.toString()}`
    const lines = text.lastIndexOf('\n') + 1
    const end = isEnd || text.length - lines > MAX_LINE_CHARS ? text.length : lines
    line = text.slice(end)
    return Buffer.from(sanitizer.push(lastStates(text.slice(0, end))))
  }
}

/** What is left of lines in which a carriage return went back to the start. */
function lastStates(text: string): string {
  return text.includes('\r') ? text.split('\n').map(lastState).join('\n') : text
}

/** Without a regular expression: over many carriage returns one would take minutes. */
function lastState(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end--
  return line.slice(line.lastIndexOf('\r', Math.max(0, end - 1)) + 1, end)
}
