/** The meaning of a piece of text; the colours come from the terminal's own theme. */
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
  return styles.reduceRight((inner, style) => STYLES[style].reduceRight(wrapIn, inner), text)
}

/** The codes that open and close one attribute (ECMA-48 SGR). */
type Attribute = readonly [open: number, close: number]

function wrapIn(text: string, [open, close]: Attribute): string {
  const [begin, end] = [`\x1b[${open}m`, `\x1b[${close}m`]
  return begin + (text.includes(end) ? text.replaceAll(end, end + begin) : text) + end
}

const BOLD: Attribute = [1, 22]
const RED: Attribute = [31, 39]
const GREEN: Attribute = [32, 39]
const YELLOW: Attribute = [33, 39]
const CYAN: Attribute = [36, 39]

const STYLES: Record<TextStyle, readonly Attribute[]> = {
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
}
