import stringWidth from 'string-width'
import { isPlain, isSimple, simpleWidth } from '../text/characters.ts'
import { toGraphemes } from '../text/graphemes.ts'
import { OpenStyles } from './style.ts'

/** Measures the columns of a text without line breaks; colors have no width. */
export function measureWidth(text: string): number {
  const shown = text.includes('\x1b') ? text.replaceAll(SGR, '') : text
  if (isPlain(shown)) return shown.length
  if (!isSimple(shown)) return stringWidth(shown)
  let width = 0
  for (const char of shown) width += simpleWidth(char)
  return width
}

/**
 * Breaks a text at its line breaks and, where it is too wide, between words, or else between graphemes.
 *
 * Every line closes the colors it opens. The result has at least one line, and none is wider than `width`,
 * which counts as 1 when it is less.
 */
export function wrapLines(text: string, width: number): string[] {
  const room = width >= 1 ? width : 1 // NaN would make the loop endless
  const styles = new OpenStyles()
  return tidy(text)
    .split('\n')
    .flatMap((line) => {
      if (isPlain(line) && line.length <= room && styles.isNone) return [line]
      return fitsUnbroken(line, room)
        ? [reopenColors(line, styles)]
        : new LineBreaker(room, styles).breakLine(line)
    })
}

/** Whether a line with colors obviously fits. Leading blanks are left to LineBreaker, which may drop them. */
function fitsUnbroken(line: string, room: number): boolean {
  const shown = line.replaceAll(SGR, '')
  return shown.length <= room && shown !== '' && !shown.startsWith(' ') && isPlain(shown)
}

/** Opens the colors that are open before a line, and closes those that are open at its end. */
function reopenColors(line: string, styles: OpenStyles): string {
  const begin = styles.open()
  for (const [sequence] of line.matchAll(SGR)) styles.apply(sequence)
  return begin + line + styles.close()
}

/** Joins the text into one line, truncated with `…` when it is wider than `width`. */
export function truncateText(text: string, width: number): string {
  const line = tidy(text).replaceAll('\n', ' ')
  if (measureWidth(line) <= width) return line
  if (width <= 0) return ''
  const styles = new OpenStyles()
  let out = ''
  let room = width - 1
  for (const token of splitTokens(line)) {
    if (token.startsWith('\x1b')) {
      styles.apply(token)
      out += token
      continue
    }
    for (const grapheme of toGraphemes(token)) {
      room -= measureWidth(grapheme)
      if (room < 0) return `${out}…${styles.close()}`
      out += grapheme
    }
  }
  return out + styles.close()
}

/** Splits a line between graphemes: the first piece is at most `first` columns wide, the others `rest`. */
export function cutText(line: string, first: number, rest: number): string[] {
  const styles = new OpenStyles()
  const lines: string[] = []
  let out = ''
  let room = Math.max(1, first)
  for (const token of splitTokens(tidy(line))) {
    if (token.startsWith('\x1b')) {
      styles.apply(token)
      out += token
      continue
    }
    for (const grapheme of toGraphemes(token)) {
      const shown = measureWidth(grapheme) > Math.max(1, rest) ? '…' : grapheme
      if (measureWidth(shown) > room) {
        lines.push(out + styles.close())
        out = styles.open()
        room = Math.max(1, rest)
      }
      out += shown
      room -= measureWidth(shown)
    }
  }
  return [...lines, out + styles.close()]
}

/** Pads the text with spaces to `width`; a wider text stays unchanged. */
export function padText(text: string, width: number, align: 'left' | 'right' | 'center' = 'left'): string {
  const missing = Math.max(0, width - measureWidth(text))
  const before = align === 'left' ? 0 : align === 'right' ? missing : missing >> 1
  return ' '.repeat(before) + text + ' '.repeat(missing - before)
}

/** Expands tabs and removes control characters other than colors and line feeds. */
function tidy(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  if (!/[\0-\x09\x0b-\x1f\x7f-\x9f]/.test(text)) return text
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  return text.replaceAll('\t', '    ').replaceAll(/(?!\x1b\[[\d;]*m)[\0-\x09\x0b-\x1f\x7f-\x9f]/g, '')
}

/** Splits a line into colors, runs of spaces, and words. */
function splitTokens(line: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ESC starts a color
  return line.match(/\x1b\[[\d;]*m| +|[^ \x1b]+/g) ?? []
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC starts a color
const SGR = /\x1b\[[\d;]*m/g

interface Part {
  text: string
  width: number
  /** Whether a line may end before this part. */
  mayBreak: boolean
}

/** Splits a word at wide characters, because scripts without spaces can break anywhere. */
function splitParts(word: string): Part[] {
  const parts: Part[] = []
  for (const text of toGraphemes(word)) {
    const width = measureWidth(text)
    const isWide = width > 1 || (parts.at(-1)?.width ?? 0) > 1
    parts.push({ text, width, mayBreak: isWide && !CLINGS.test(text) })
  }
  return parts
}

/** Punctuation that must not start a line. */
const CLINGS = /^[\p{Pe}\p{Pf}\p{Po}ー]/u

/** Breaks one line. Colors that are open at a break are closed there and reopened on the next line. */
class LineBreaker {
  readonly #room: number
  readonly #styles: OpenStyles
  readonly #lines: string[] = []
  #line: string
  #column = 0
  #blanks = ''
  #word: string[] = []
  #wordWidth = 0

  constructor(room: number, styles: OpenStyles) {
    this.#room = room
    this.#styles = styles
    this.#line = styles.open()
  }

  breakLine(line: string): string[] {
    for (const token of splitTokens(line)) {
      if (token.startsWith('\x1b')) this.#word.push(token)
      else if (token.startsWith(' ')) this.#takeBlanks(token)
      else this.#takeWord(token)
    }
    this.#endWord()
    this.#lines.push(this.#line + this.#styles.close())
    return this.#lines
  }

  #takeBlanks(blanks: string): void {
    this.#endWord()
    this.#blanks += blanks
  }

  #takeWord(token: string): void {
    if (isPlain(token)) {
      this.#word.push(token)
      this.#wordWidth += token.length
      return
    }
    for (const part of splitParts(token)) {
      if (part.mayBreak && this.#wordWidth > 0) this.#endWord()
      this.#word.push(part.text)
      this.#wordWidth += part.width
    }
  }

  #endWord(): void {
    const isBreak = this.#column + this.#blanks.length + this.#wordWidth > this.#room
    if (this.#wordWidth > 0 && isBreak && this.#column > 0) this.#endLine()
    else this.#putBlanks()
    for (const part of this.#word) this.#put(part)
    this.#word = []
    this.#wordWidth = 0
  }

  #putBlanks(): void {
    const blanks = this.#wordWidth > 0 || this.#column > 0 ? this.#blanks : ''
    const fitting = blanks.slice(0, Math.max(0, this.#room - this.#column - (this.#wordWidth > 0 ? 1 : 0)))
    this.#line += fitting
    this.#column += fitting.length
    this.#blanks = ''
  }

  #put(part: string): void {
    if (part.startsWith('\x1b')) {
      this.#styles.apply(part)
      this.#line += part
      return
    }
    if (isPlain(part)) {
      this.#putPlain(part)
      return
    }
    this.#putGrapheme(part)
  }

  #putPlain(part: string): void {
    let rest = part
    while (rest !== '') {
      if (this.#column >= this.#room) this.#endLine()
      const piece = rest.slice(0, this.#room - this.#column)
      this.#line += piece
      this.#column += piece.length
      rest = rest.slice(piece.length)
    }
  }

  #putGrapheme(grapheme: string): void {
    const width = measureWidth(grapheme)
    if (width > this.#room) {
      this.#putGrapheme('…')
      return
    }
    if (this.#column + width > this.#room) this.#endLine()
    this.#line += grapheme
    this.#column += width
  }

  #endLine(): void {
    this.#lines.push(this.#line.trimEnd() + this.#styles.close())
    this.#line = this.#styles.open()
    this.#column = 0
    this.#blanks = ''
  }
}

/** Wraps a text to at most `most` rows; the last one ends in `…` when something is left out. */
export function wrapAtMost(text: string, columns: number, most: number): string[] {
  const rows = wrapLines(text, columns)
  if (rows.length <= most) return rows
  return [...rows.slice(0, most - 1), truncateText(`${rows[most - 1]!.replace(/[ ·]+$/, '')}…`, columns)]
}
