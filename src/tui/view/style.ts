/** The meaning of a piece of text; its look comes from the palette. */
export type TextStyle =
  | 'bold'
  | 'dim'
  | 'italic'
  | 'underline'
  | 'strike'
  | 'inverse'
  /** Text that should stand out: marks, names, the selection. */
  | 'accent'
  | 'success'
  | 'warning'
  | 'error'
  /** Code within a sentence. */
  | 'code'
  | 'heading'
  | 'link'
  | 'added'
  | 'removed'
  /** The parts of code. */
  | 'keyword'
  | 'string'
  | 'number'
  | 'type'
  | 'function'
  | 'comment'
  /** Tints behind a line, in terminals with enough colors: the user's message, and lines of a diff. */
  | 'user-background'
  | 'diff-added-background'
  | 'diff-removed-background'
  /** The changed words of a line of a diff. */
  | 'diff-added-word'
  | 'diff-removed-word'

/** The codes that open and close one attribute (ECMA-48 SGR). */
export type Attribute = readonly [open: number | string, close: number]

/** The attributes of each style. */
export type Palette = Readonly<Record<TextStyle, readonly Attribute[]>>

/** Sets the palette of the terminal of this process, for everything that is painted afterwards. */
export function setPalette(palette: Palette): void {
  current = palette
}

/**
 * Applies styles to each line of a text; without `color` it returns the text unchanged.
 *
 * Painted text can be painted again from outside: the outer styles resume after the inner ones.
 */
export function paint(text: string, color: boolean, ...styles: readonly TextStyle[]): string {
  if (!color || text === '') return text
  if (text.includes('\n')) {
    return text
      .split('\n')
      .map((line) => paint(line, color, ...styles))
      .join('\n')
  }
  return styles.reduceRight((inner, style) => current[style].reduceRight(wrapIn, inner), text)
}

function wrapIn(text: string, [open, close]: Attribute): string {
  const [begin, end] = [`\x1b[${open}m`, `\x1b[${close}m`]
  return begin + (text.includes(end) ? text.replaceAll(end, end + begin) : text) + end
}

const BOLD: Attribute = [1, 22]
const RED: Attribute = [31, 39]
const GREEN: Attribute = [32, 39]
const YELLOW: Attribute = [33, 39]
const CYAN: Attribute = [36, 39]

/** The 16 colors of the terminal's own theme, without tints. */
export const ANSI_PALETTE: Palette = {
  bold: [BOLD],
  dim: [[2, 22]],
  italic: [[3, 23]],
  underline: [[4, 24]],
  strike: [[9, 29]],
  inverse: [[7, 27]],
  accent: [CYAN],
  success: [GREEN],
  warning: [YELLOW],
  error: [RED],
  code: [CYAN],
  heading: [BOLD, CYAN],
  link: [[4, 24]],
  added: [GREEN],
  removed: [RED],
  keyword: [[35, 39]],
  string: [GREEN],
  number: [YELLOW],
  type: [YELLOW],
  function: [[94, 39]],
  comment: [[2, 22]],
  'user-background': [],
  'diff-added-background': [],
  'diff-removed-background': [],
  'diff-added-word': [BOLD],
  'diff-removed-word': [BOLD],
}

let current = ANSI_PALETTE

/**
 * The styles (SGR) that are open at a position in a text, so that a line can close them and the next can
 * reopen them.
 */
export class OpenStyles {
  /** The opening parameter by the parameter that closes it. */
  readonly #open = new Map<number, string>()

  get isNone(): boolean {
    return this.#open.size === 0
  }

  /** Applies one sequence, such as `\x1b[1;31m`. */
  apply(sequence: string): void {
    const parameters = sequence.slice(2, -1)
    if (/^[34]8;/.test(parameters)) {
      this.#open.set(parameters.startsWith('3') ? 39 : 49, parameters)
      return
    }
    for (const parameter of parameters.split(';')) this.#applyOne(Number(parameter))
  }

  /** Returns the sequences that reopen all styles. */
  open(): string {
    if (this.isNone) return ''
    return Array.from(this.#open.values(), (parameter) => `\x1b[${parameter}m`).join('')
  }

  /** Returns the sequences that close all styles at the end of a line; the next line reopens them. */
  close(): string {
    if (this.isNone) return ''
    const ends = new Set(Array.from(this.#open.keys(), (key) => Math.trunc(key)))
    return Array.from(ends, (end) => `\x1b[${end}m`).join('')
  }

  #applyOne(parameter: number): void {
    if (parameter === 0) this.#open.clear()
    const key = getClosingKey(parameter)
    if (key !== undefined) this.#open.set(key, String(parameter))
    for (const open of [...this.#open.keys()]) if (Math.trunc(open) === parameter) this.#open.delete(open)
  }
}

/** Returns the parameter that closes an opening one. Bold and dim share 22, so dim has the fraction .5. */
function getClosingKey(parameter: number): number | undefined {
  if (parameter === 1) return 22
  if (parameter === 2) return 22.5
  if (parameter >= 3 && parameter <= 9) return parameter + 20
  if ((parameter >= 30 && parameter <= 37) || (parameter >= 90 && parameter <= 97)) return 39
  if ((parameter >= 40 && parameter <= 47) || (parameter >= 100 && parameter <= 107)) return 49
  return undefined
}
