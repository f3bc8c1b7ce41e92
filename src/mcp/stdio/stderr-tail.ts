import { StringDecoder } from 'node:string_decoder'
import { sanitize } from '../../core/base/sanitize.ts'

/** The last lines of a stream, in bounded memory; the last one may be unfinished. */
export class LineTail {
  readonly #hide: (line: string) => string
  readonly #store: ((read: () => string[], count: number) => void) | undefined
  readonly #decoder = new StringDecoder('utf8')
  #lines: string[] = []
  #open = ''
  /** Whether note() was ever called. */
  hasNotes = false
  /**
   * Called for each chunk that completes lines, with a function that returns them as lines() does. Must not
   * throw.
   */
  onLines: ((read: () => string[]) => void) | undefined

  /**
   * `hide` removes secrets from a line; a line that was truncated before ends in `…`. `store` is called as
   * onLines() is, with the number of lines.
   */
  constructor(hide = (line: string) => line, store?: (read: () => string[], count: number) => void) {
    this.#hide = hide
    this.#store = store
  }

  push(chunk: Uint8Array): void {
    const [first = '', ...further] = this.#decoder.write(Buffer.from(chunk)).split('\n')
    const pieces = [this.#open + first, ...further].map((line) => clip(line, MAX_STORED))
    this.#open = pieces.pop()!
    for (const line of pieces) this.#lines.push(line)
    if (pieces.length > 0) {
      this.onLines?.(() => this.#show(pieces))
      this.#store?.(() => this.#show(pieces), pieces.length)
    }
    if (this.#lines.length > 2 * MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES)
  }

  /** Inserts a line of our own between those of the program, about what happened to it. */
  note(text: string): void {
    this.hasNotes = true
    const end = this.#open === '' ? '' : '\n'
    this.push(Buffer.from(`${end}${toNote(text)}\n`))
  }

  /** Returns at most 200 lines, oldest first, without terminal control sequences. */
  lines(): string[] {
    const all = this.#open === '' ? this.#lines : [...this.#lines, this.#open]
    return this.#show(all.slice(-MAX_LINES))
  }

  #show(lines: readonly string[]): string[] {
    const cleanLines = lines.map((line) => this.#hide(sanitize(line.replace(/\r$/, ''))))
    return cleanLines.map((line) => clip(line, MAX_LINE))
  }
}

/**
 * Picks the line of a program's standard error that says why it ended; empty when it wrote nothing. Lines
 * before its last restart do not count.
 *
 * The output often ends in a stack trace, a version or a hint: so this is the first line of the last run of
 * lines that mention an error and not a warning, or else the last line that is not indented.
 */
export function describeStderrTail(lines: readonly string[]): string {
  const sinceRestart = lines.slice(lines.findLastIndex(isNote) + 1)
  const words = sinceRestart.slice(-MAX_LAST_WORDS).filter((line) => line.trim() !== '')
  let at = words.findLastIndex(mentionsError)
  while (at > 0 && mentionsError(words[at - 1]!)) at--
  if (NPM_CODE.test(words[at] ?? '') && mentionsError(words[at + 1] ?? '')) at++
  const line = words[at] ?? words.findLast((one) => !/^\s/.test(one)) ?? words.at(-1) ?? ''
  return line.trim()
}

/** The first line of a failure of npm; the next one says what failed. */
const NPM_CODE = /^npm (?:error|ERR!) code \w+$/
const MAX_LINES = 200
const MAX_LAST_WORDS = 50
const MAX_LINE = 2_000
/** More than is shown, so that a secret across the limit is still whole when it is hidden. */
const MAX_STORED = 2 * MAX_LINE

/** Truncates a line. The chunks of one line arrive one by one: nothing beyond the limit is ever stored. */
function clip(line: string, limit: number): string {
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line
}

function toNote(text: string): string {
  return `${NOTE}${text}]`
}

function isNote(line: string): boolean {
  return line.startsWith(NOTE)
}

const NOTE = '[crabtalk: '

function mentionsError(line: string): boolean {
  return (
    !/^\s|^\W*warn/i.test(line) &&
    /error|exception|panic|fatal|fail|cannot|not found|denied|invalid|missing|refused/i.test(line)
  )
}
