/** A line of an open text. A very long line is split into several. */
export interface Line {
  /** The text without its line break. */
  text: string
  start: number
  /** The start of the next line. */
  next: number
}

/**
 * The maximum length of a line. Longer lines are split, between words where possible, so that no block grows
 * without limit.
 */
const MAX_LINE_CHARS = 4096

/** Returns the line at `at`; undefined when there is none, or when it is not complete yet. */
export function readLine(text: string, at: number, isOver: boolean): Line | undefined {
  const end = text.indexOf('\n', at)
  if (end >= 0 && end - at <= MAX_LINE_CHARS) {
    return { text: text.slice(at, end).replace(/\r$/, ''), start: at, next: end + 1 }
  }
  if (text.length - at > MAX_LINE_CHARS) {
    const next = cutAt(text, at)
    return { text: text.slice(at, next), start: at, next }
  }
  return isOver && at < text.length ? { text: text.slice(at), start: at, next: text.length } : undefined
}

/**
 * Returns the offset at which to split a long line: before a word that starts with a letter, because such a
 * word can only start a paragraph.
 */
function cutAt(text: string, at: number): number {
  const most = text.slice(at, at + MAX_LINE_CHARS)
  const [words = ''] = /^[\s\S]* (?=\p{L})/u.exec(most) ?? []
  if (words.trim() !== '') return at + words.length
  return at + most.replace(/[\ud800-\udbff]$/, '').length
}

/** Whether a line is empty or contains only whitespace. */
export function isBlank(line: string): boolean {
  return line.trim() === ''
}

/** Measures the indentation of a line in columns, with tabs every four. */
export function measureIndent(line: string): number {
  let columns = 0
  for (const char of line) {
    if (char === ' ') columns++
    else if (char === '\t') columns += 4 - (columns % 4)
    else return columns
  }
  return columns
}

/** Returns the characters that open a fence; undefined for other lines. */
export function matchFence(line: string): string | undefined {
  const found = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line)
  return found?.[1] ?? found?.[2]
}

/** Whether a line closes the fence that these characters opened. */
export function closesFence(line: string, fence: string): boolean {
  const mark = line.trim()
  return mark.length >= fence.length && /^ {0,3}(`+|~+)\s*$/.test(line) && mark[0] === fence[0]
}

/** The marker of a list item: the kind of list, and the column of the item's content. */
export interface Marker {
  kind: string
  offset: number
  isEmpty: boolean
  /** Whether it can start a list within a paragraph (CommonMark, section 5.3). */
  interrupts: boolean
}

/** Returns the list marker of a line; undefined for other lines. */
export function matchMarker(line: string): Marker | undefined {
  const found = /^( {0,3})([-+*]|\d{1,9}[.)])([ \t]+|$)/.exec(line)
  if (!found) return undefined
  const [all, before = '', mark = '', blanks = ''] = found
  const isEmpty = all.length === line.length
  const width = isEmpty || blanks.length > 4 ? 1 : blanks.length
  const isFirst = !/^\d/.test(mark) || (mark.length === 2 && mark.startsWith('1'))
  return {
    kind: mark.at(-1)!,
    offset: before.length + mark.length + width,
    isEmpty,
    interrupts: !isEmpty && isFirst,
  }
}

/** Whether a line is a block by itself: an ATX heading or a thematic break. */
export function isWhole(line: string): boolean {
  return /^ {0,3}#{1,6}(?:\s|$)/.test(line) || /^ {0,3}([-_*])(?:[ \t]*\1){2,}[ \t]*$/.test(line)
}

/** Whether a line is the underline that turns the paragraph above into a heading. */
export function isSetext(line: string): boolean {
  return /^ {0,3}(?:=+|-+)[ \t]*$/.test(line)
}

/** Whether a line belongs to a block quote by its `>`. */
export function isQuote(line: string): boolean {
  return /^ {0,3}>/.test(line)
}

/** Whether a line is the delimiter row below a table's header. */
export function isDelimiter(line: string): boolean {
  return line.includes('|') && /^ {0,3}\|?(?:[ \t]*:?-+:?[ \t]*\|?)+$/.test(line)
}

/** Whether a line ends a paragraph without a blank line before it. */
export function interrupts(line: string): boolean {
  return (
    matchFence(line) !== undefined || isWhole(line) || isQuote(line) || matchMarker(line)?.interrupts === true
  )
}
