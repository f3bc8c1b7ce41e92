import { createContext, Script } from 'node:vm'
import { CrabError } from '../../base/errors.ts'

/** Where a line stands in a text: UTF-16 units, without its line break. */
export interface LineSpan {
  /** From 1. */
  number: number
  start: number
  end: number
}

/** A line that matches, and where in the line it does. */
export interface LineMatch extends LineSpan {
  at: number
}

/** Finds the lines of a text that match, `limit` at most. Throws `invalid` when the pattern takes too long. */
export type LineFinder = (text: string, limit: number) => LineMatch[]

/** Milliseconds for one text: a regular expression may need for ever, and nothing but a time limit of V8 stops it. */
const MAX_MATCH_MS = 2_000

/** A finder for one search. */
export function patternLineFinder(pattern: RegExp, maxMs = MAX_MATCH_MS): LineFinder {
  const work = { run: (): LineMatch[] => [] }
  const context = createContext({ work })
  const script = new Script('work.run()')
  return (text, limit) => {
    if (text === '') return []
    work.run = () => matchingLines(text, pattern, limit)
    try {
      return script.runInContext(context, { timeout: maxMs })
    } catch (reason) {
      const { code } = reason as NodeJS.ErrnoException // an Error of that context, no instance of ours
      if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw reason
      throw new CrabError('invalid', 'Cannot search: the pattern takes too long', {
        hint: 'a repetition inside of a repetition does',
      })
    }
  }
}

function matchingLines(text: string, pattern: RegExp, limit: number): LineMatch[] {
  const found: LineMatch[] = []
  for (const line of splitLineSpans(text)) {
    const match = pattern.exec(text.slice(line.start, line.end))
    if (match) found.push({ ...line, at: match.index })
    if (found.length >= limit) break
  }
  return found
}

/** Every line of a text; one that ends with the text needs no line break. */
export function* splitLineSpans(text: string): Generator<LineSpan> {
  for (let number = 1, start = 0; start < text.length; number++) {
    const newline = text.indexOf('\n', start)
    const next = newline < 0 ? text.length : newline + 1
    const end = newline < 0 ? next : text[newline - 1] === '\r' && newline > start ? newline - 1 : newline
    yield { number, start, end }
    start = next
  }
}
