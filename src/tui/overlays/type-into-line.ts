import { toGraphemes } from '../text/graphemes.ts'
import type { KeyPress } from '../text/key.ts'
import { cleanLine } from '../view/clean.ts'

/**
 * Applies a key to a one-line text: types into it or deletes from its end. Returns the same line for any
 * other key.
 */
export function typeIntoLine(line: string, key: KeyPress): string {
  if (key.name === 'backspace') return toGraphemes(line).slice(0, -1).join('')
  if (key.ctrl) return key.text === 'u' ? '' : key.text === 'w' ? line.replace(/\S*\s*$/, '') : line
  return key.name === 'paste' || (key.name === 'text' && !key.alt) ? line + cleanLine(key.text) : line
}
