/**
 * Text as a person can judge it before permitting it: what a terminal would obey, or not show, stands as an escape
 * (`\x1b`, `\u202e`), also every blank but the space. Line feeds stay.
 *
 * A backslash stays what it is: an escape that was in the text looks like one that was put there.
 */
export function toVisible(text: string): string {
  // controls, formats, unassigned and private characters, lone surrogates, what is drawn as nothing, and unusual blanks;
  // made when it is needed: it takes longer than all the rest of a start's small modules
  return text.replaceAll(/[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]--[\n ]]/gv, toEscape)
}

function toEscape(char: string): string {
  const short = SHORT.get(char)
  if (short !== undefined) return short
  const hex = char.codePointAt(0)!.toString(16)
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ['\t', '\\t'],
  ['\r', '\\r'],
])
