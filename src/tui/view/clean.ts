import { sanitize } from '../../core/base/sanitize.ts'

/**
 * Sanitizes untrusted text for printing: removes control sequences, invisible characters, direction marks and
 * stacked combining marks, and converts tabs to spaces and all line breaks to line feeds.
 */
export function cleanText(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
  const clean = sanitize(lines)
  return expandTabs(isAscii(clean) ? clean : tame(clean))
}

/** Sanitizes untrusted text like `cleanText`, on one line. */
export function cleanLine(text: string): string {
  return cleanText(text).replaceAll(/\s*\n\s*/g, ' ')
}

const TAB_COLUMNS = 4

/**
 * Expands tabs to spaces. Columns are counted by code unit, which is right for the text before a tab in code.
 */
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

/** Removes invisible characters and limits the combining marks on a letter to four; real scripts need three. */
function tame(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u2028\u2029]/g, '\n')
    .replaceAll(UNSEEN, '')
    .replaceAll(/(\p{M}{4})\p{M}+/gu, '$1')
    .replaceAll(/((?:\u200d[^\u200d]{1,4}){3})\u200d+/gu, '$1')
}

/**
 * Characters that are invisible, or drawn differently by every terminal: fillers, joiners other than the two
 * that scripts and emoji need, direction marks, tags, and variation selectors other than the one for emoji.
 */
const UNSEEN =
  /[[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\u200c\u200d\ufe0f]]|\u200c(?<!\p{L}\u200c)|\u200d(?<![\p{Emoji}\p{M}\p{L}]\u200d)/gv
