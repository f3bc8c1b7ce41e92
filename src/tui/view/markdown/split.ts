import type { OpenText } from '../blocks.ts'
import {
  closesFence,
  interrupts,
  isBlank,
  isQuote,
  isWhole,
  type Line,
  matchFence,
  matchMarker,
  measureIndent,
  readLine,
} from './line-kinds.ts'
import { type BlockEnd, type NextLine, scanBlock, scanFence, scanTable } from './scan-block.ts'

/** The result of splitting a text: parts that will not change any more, and the rest. */
export interface Split {
  /** Every part is valid Markdown by itself. One that `continues` belongs to the block of the part before. */
  closed: readonly { text: string; continues: boolean }[]
  text: string
  carry: string
}

/**
 * Splits the closed blocks off the front of an open Markdown text; the whole text when `isOver`.
 *
 * Every list item is a part of its own. Long blocks are closed in parts: code about every 24 lines,
 * preferably at a blank one; tables every 60 rows; paragraphs after about 3,000 characters. A part within
 * code starts with the opening line of its fence again, a part within a table with its header. The parts are
 * the same for any chunking of the input.
 */
export function splitClosed({ text, carry }: Pick<OpenText, 'text' | 'carry'>, isOver: boolean): Split {
  const closed: { text: string; continues: boolean }[] = []
  const nextLine: NextLine = ({ next }) => readLine(text, next, isOver)
  let at = 0
  let currentCarry = carry
  for (let line = readLine(text, at, isOver); line; line = readLine(text, at, isOver)) {
    if (isBlank(line.text) && !currentCarry.startsWith('f')) {
      at = line.next
      currentCarry = ''
      continue
    }
    const continues = continuesBlock(line.text, currentCarry)
    const repeated = continues ? getRepeatedLines(currentCarry) : ''
    const found = scan(line, nextLine, { repeated, carry: currentCarry, isOver })
    if (!found) break
    const isCode = matchFence(repeated.split('\n', 1)[0] || line.text) !== undefined
    const part = repeated + trimEnd(text.slice(at, found.end), isCode)
    if (!(continues && isClosing(line.text, currentCarry))) closed.push({ text: part, continues })
    at = found.end
    currentCarry = found.carry
  }
  return { closed, text: text.slice(at), carry: currentCarry }
}

/** Returns an open text as Markdown that is valid by itself, like a closed part. */
export function closeOpenText({ text, carry }: Pick<OpenText, 'text' | 'carry'>): {
  text: string
  continues: boolean
} {
  const first = text.slice(0, 200).split('\n', 1)[0] ?? ''
  const continues = continuesBlock(first, carry)
  return { text: continues ? getRepeatedLines(carry) + text : text, continues }
}

function scan(
  line: Line,
  nextLine: NextLine,
  { repeated, carry, isOver }: { repeated: string; carry: string; isOver: boolean },
): BlockEnd | undefined {
  if (carry.startsWith('f')) return scanFence(line, nextLine, carry.slice(1), isOver)
  if (repeated !== '') return scanTable(line, nextLine, carry.slice(1), isOver)
  return scanBlock(line, nextLine, isOver)
}

/**
 * Whether a line continues the block that `carry` describes: `f` a fence and its opening line, `t` a table
 * and its header, `l` a list and its marker, `q` a quote, `c` indented code, `p` a paragraph.
 */
function continuesBlock(line: string, carry: string): boolean {
  switch (carry[0]) {
    case 'f':
      return true
    case 'l':
      return matchMarker(line)?.kind === carry[1] && !isWhole(line)
    case 'q':
      return isQuote(line)
    case 'c':
      return measureIndent(line) >= 4
    case 't':
    case 'p':
      return !interrupts(line)
    default:
      return false
  }
}

/** Returns the lines that a part within such a block must repeat to be valid Markdown by itself. */
function getRepeatedLines(carry: string): string {
  return carry.startsWith('f') || carry.startsWith('t') ? `${carry.slice(1)}\n` : ''
}

/** Whether a line closes the fence of the part before, so that nothing is left to show. */
function isClosing(line: string, carry: string): boolean {
  return carry.startsWith('f') && closesFence(line, matchFence(carry.slice(1)) ?? '')
}

/** Trims trailing whitespace, except in code, where blank lines count. */
function trimEnd(text: string, isCode: boolean): string {
  return isCode ? text : text.trimEnd()
}
