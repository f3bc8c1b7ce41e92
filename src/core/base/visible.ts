/**
 * Makes text safe to review before permitting it: characters that a terminal would interpret or hide become
 * escapes (`\x1b`, `\u202e`), as does every blank except the space. Line feeds stay.
 *
 * Backslashes are not escaped, so an escape in the original text looks like one that was inserted here.
 */
export function toVisible(text: string): string {
  // Controls, formats, unassigned and private characters, lone surrogates, invisible characters, and unusual
  // blanks. The pattern is compiled on use, since it takes longer than all other small modules of a start.
  return text.replaceAll(/[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]--[\n ]]/gv, toEscape)
}

/** Escapes text that the user judges, on one line. */
export function escapeLine(text: string): string {
  return toVisible(text).replaceAll('\n', '\\n')
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
