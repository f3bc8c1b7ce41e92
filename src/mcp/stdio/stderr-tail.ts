import { StringDecoder } from 'node:string_decoder'
import { sanitize } from '../../core/base/sanitize.ts'

/** The last lines that came down a stream, in bounded memory; the last one may be unfinished. */
export class LineTail {
  readonly #hide: (line: string) => string
  readonly #decoder = new StringDecoder('utf8')
  #lines: string[] = []
  #open = ''
  /** Whether note() was ever called. */
  hasNotes = false
  /** Called for what has come, with a way to get its whole lines as lines() gives them. Must not throw. */
  onLines: ((read: () => string[]) => void) | undefined

  /** `hide` takes out of a line what nobody may see; a line that was cut ends in `…` then. */
  constructor(hide = (line: string) => line) {
    this.#hide = hide
  }

  push(chunk: Uint8Array): void {
    const [first = '', ...further] = this.#decoder.write(Buffer.from(chunk)).split('\n')
    const pieces = [this.#open + first, ...further].map((line) => clip(line, MAX_KEPT))
    this.#open = pieces.pop()!
    for (const line of pieces) this.#lines.push(line)
    if (pieces.length > 0) this.onLines?.(() => this.#show(pieces))
    if (this.#lines.length > 2 * MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES)
  }

  /** Puts a line of ours between those of the program: what became of it. */
  note(text: string): void {
    this.hasNotes = true
    const end = this.#open === '' ? '' : '\n'
    this.push(Buffer.from(`${end}${toNote(text)}\n`))
  }

  /** At most 200, oldest first, without what a terminal would obey. */
  lines(): string[] {
    const all = this.#open === '' ? this.#lines : [...this.#lines, this.#open]
    return this.#show(all.slice(-MAX_LINES))
  }

  #show(lines: readonly string[]): string[] {
    const shown = lines.map((line) => this.#hide(sanitize(line.replace(/\r$/, ''))))
    return shown.map((line) => clip(line, MAX_LINE))
  }
}

/**
 * The line of a program's last words that says why it ended; empty when it said nothing. What it said before it ended
 * the last time does not count.
 *
 * Last words end in a stack, a version, a hint: what counts is the first line of the last run of lines that speak of an
 * error, and not of a warning, else the last line that is not indented.
 */
export function describeStderrTail(lines: readonly string[]): string {
  const said = lines.slice(lines.findLastIndex(isNote) + 1)
  const words = said.slice(-MAX_LAST_WORDS).filter((line) => line.trim() !== '')
  let at = words.findLastIndex(speaksOfError)
  while (at > 0 && speaksOfError(words[at - 1]!)) at--
  const line = words[at] ?? words.findLast((one) => !/^\s/.test(one)) ?? words.at(-1) ?? ''
  return line.trim()
}

const MAX_LINES = 200
const MAX_LAST_WORDS = 50
const MAX_LINE = 2_000
/** More than is shown, so that a secret across the limit is still whole when it is hidden. */
const MAX_KEPT = 2 * MAX_LINE

/** Pieces of one line arrive one by one: what is beyond the limit is never kept. */
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

function speaksOfError(line: string): boolean {
  return (
    !/^\s|^\W*warn/i.test(line) &&
    /error|exception|panic|fatal|fail|cannot|not found|denied|invalid|missing|refused/i.test(line)
  )
}
