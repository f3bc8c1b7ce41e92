import type { OpenText } from '../state/types.ts'
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
} from './markdown/line-kinds.ts'
import { type BlockEnd, type NextLine, scanBlock, scanFence, scanTable } from './markdown/scan-block.ts'

/** What a text came to: parts that will not change any more, and the rest. */
export interface Split {
  /** Each is Markdown by itself. One that `continues` goes on in the part before. */
  closed: readonly { text: string; continues: boolean }[]
  text: string
  carry: string
}

/**
 * Takes the closed blocks off the front of an open Markdown text; all of it when `isOver`.
 *
 * Each item of a list is a part of its own. Long blocks are closed in parts: code about every 24 lines, at a blank one
 * where there is one; tables every 60 rows; paragraphs behind some 3,000 characters. A part within code begins with
 * the opening line of the fence again, a part within a table with its header. The same parts come out however the
 * text came in.
 */
export function splitClosed({ text, carry }: Pick<OpenText, 'text' | 'carry'>, isOver: boolean): Split {
  const closed: { text: string; continues: boolean }[] = []
  const nextLine: NextLine = ({ next }) => readLine(text, next, isOver)
  let at = 0
  let goingOn = carry
  for (let line = readLine(text, at, isOver); line; line = readLine(text, at, isOver)) {
    if (isBlank(line.text) && !goingOn.startsWith('f')) {
      at = line.next
      goingOn = ''
      continue
    }
    const continues = goesOn(line.text, goingOn)
    const repeated = continues ? getRepeatedLines(goingOn) : ''
    const found = scan(line, nextLine, { repeated, carry: goingOn, isOver })
    if (!found) break
    const isCode = matchFence(repeated.split('\n', 1)[0] || line.text) !== undefined
    const part = repeated + trimEnd(text.slice(at, found.end), isCode)
    if (!(continues && isClosing(line.text, goingOn))) closed.push({ text: part, continues })
    at = found.end
    goingOn = found.carry
  }
  return { closed, text: text.slice(at), carry: goingOn }
}

/** An open text as Markdown by itself, as a part would be. */
export function closeOpenText({ text, carry }: Pick<OpenText, 'text' | 'carry'>): {
  text: string
  continues: boolean
} {
  const first = text.slice(0, 200).split('\n', 1)[0] ?? ''
  const continues = goesOn(first, carry)
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
 * Whether a line goes on in the block that `carry` tells of: `f` a fence and its opening line, `t` a table and its
 * header, `l` a list and its marker, `q` a quote, `c` indented code, `p` a paragraph.
 */
function goesOn(line: string, carry: string): boolean {
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

/** What a part within such a block begins with, to be Markdown by itself. */
function getRepeatedLines(carry: string): string {
  return carry.startsWith('f') || carry.startsWith('t') ? `${carry.slice(1)}\n` : ''
}

/** The end of a fence right behind a part: nothing is left to show. */
function isClosing(line: string, carry: string): boolean {
  return carry.startsWith('f') && closesFence(line, matchFence(carry.slice(1)) ?? '')
}

/** Blank lines go, but those within a fence, whose lines all end. */
function trimEnd(text: string, isCode: boolean): string {
  return isCode ? text : text.trimEnd()
}
