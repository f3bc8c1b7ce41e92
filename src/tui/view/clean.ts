import { sanitize } from '../../core/base/sanitize.ts'

/**
 * Text that somebody else wrote, as this program prints it: nothing that a terminal obeys, nothing that is drawn as
 * nothing or turns the order of characters, no tower of accents; tabs as spaces, every line break as `\n`.
 */
export function cleanText(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
  const clean = sanitize(lines)
  return expandTabs(isAscii(clean) ? clean : tame(clean))
}

/** As cleanText(), on one line. */
export function cleanLine(text: string): string {
  return cleanText(text).replaceAll(/\s*\n\s*/g, ' ')
}

const TAB_COLUMNS = 4

/** Characters that are seen: by code unit, which is right for what stands before a tab in code. */
function expandTabs(text: string): string {
  if (!text.includes('\t')) return text
  return text.split('\n').map(expandLine).join('\n')
}

function expandLine(line: string): string {
  const [first = '', ...others] = line.split('\t')
  let column = first.length
  let out = first
  for (const piece of others) {
    const blanks = TAB_COLUMNS - (column % TAB_COLUMNS)
    out += ' '.repeat(blanks) + piece
    column += blanks + piece.length
  }
  return out
}

function isAscii(text: string): boolean {
  return !/[^\n\t -~]/.test(text)
}

/** At most this many accents on a letter; scripts that people write need three. */
function tame(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u2028\u2029]/g, '\n')
    .replaceAll(UNSEEN, '')
    .replaceAll(/(\p{M}{4})\p{M}+/gu, '$1')
    .replaceAll(/((?:\u200d[^\u200d]{1,4}){3})\u200d+/gu, '$1')
}

/**
 * Drawn as nothing, or as something else in every terminal: fillers, joiners but the two that scripts and emoji need,
 * direction marks, tags, and variation selectors but the one for emoji.
 */
const UNSEEN =
  /[[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\u200c\u200d\ufe0f]]|\u200c(?<!\p{L}\u200c)|\u200d(?<![\p{Emoji}\p{M}\p{L}]\u200d)/gv
