import { createContext, Script } from 'node:vm'
import { CrabError } from '../../base/errors.ts'

/** The range of a line in a text, in UTF-16 units, without its line break. */
export interface LineSpan {
  /** The line number, from 1. */
  number: number
  start: number
  end: number
}

/** A matching line, and the position of the match in it. */
export interface LineMatch extends LineSpan {
  at: number
}

/** Finds the matching lines of a text, at most `limit`. Throws `invalid` when the pattern takes too long. */
export type LineFinder = (text: string, limit: number) => LineMatch[]

/** Milliseconds per text: a regular expression may run forever, and only a time limit of V8 stops it. */
const MAX_MATCH_MS = 2_000

/** Creates the finder of one search. It runs the pattern in a V8 context, which has a time limit. */
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
      const { code } = reason as NodeJS.ErrnoException // an Error of that context, so instanceof does not match
      if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw reason
      throw new CrabError('invalid', 'Cannot search: the pattern takes too long', {
        hint: 'a repetition inside another repetition causes this',
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

/** Yields every line of a text; the last one may lack a line break. */
export function* splitLineSpans(text: string): Generator<LineSpan> {
  for (let number = 1, start = 0; start < text.length; number++) {
    const newline = text.indexOf('\n', start)
    const next = newline < 0 ? text.length : newline + 1
    const end = newline < 0 ? next : text[newline - 1] === '\r' && newline > start ? newline - 1 : newline
    yield { number, start, end }
    start = next
  }
}
