/** A line of an open text. A very long one is taken as several. */
export interface Line {
  /** Without its line break. */
  text: string
  start: number
  /** Where the next one begins. */
  next: number
}

/** Longer lines are cut, at a word where there is one: no block grows for ever. */
const MAX_LINE_CHARS = 4096

/** The line at `at`; undefined where there is none, or it is not complete yet. */
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

/** Before a word that begins with a letter, for that cannot begin any block but a paragraph. */
function cutAt(text: string, at: number): number {
  const most = text.slice(at, at + MAX_LINE_CHARS)
  const [words = ''] = /^[\s\S]* (?=\p{L})/u.exec(most) ?? []
  if (words.trim() !== '') return at + words.length
  return at + most.replace(/[\ud800-\udbff]$/, '').length
}

/** Whether a line shows nothing. */
export function isBlank(line: string): boolean {
  return line.trim() === ''
}

/** Columns of blanks at its beginning, tabs to multiples of four. */
export function measureIndent(line: string): number {
  let columns = 0
  for (const char of line) {
    if (char === ' ') columns++
    else if (char === '\t') columns += 4 - (columns % 4)
    else return columns
  }
  return columns
}

/** What opens a fence: its characters; undefined for other lines. */
export function matchFence(line: string): string | undefined {
  const found = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line)
  return found?.[1] ?? found?.[2]
}

/** Whether a line closes the fence that was opened with these characters. */
export function closesFence(line: string, fence: string): boolean {
  const mark = line.trim()
  return mark.length >= fence.length && /^ {0,3}(`+|~+)\s*$/.test(line) && mark[0] === fence[0]
}

/** A list item's marker: which kind of list, and the column its content begins in. */
export interface Marker {
  kind: string
  offset: number
  isEmpty: boolean
  /** May begin a list within a paragraph (CommonMark 5.3). */
  interrupts: boolean
}

/** The marker of a line; undefined for other lines. */
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

/** A heading with `#`, or a thematic break: a block of one line. */
export function isWhole(line: string): boolean {
  return /^ {0,3}#{1,6}(?:\s|$)/.test(line) || /^ {0,3}([-_*])(?:[ \t]*\1){2,}[ \t]*$/.test(line)
}

/** What makes a heading of the paragraph above. */
export function isSetext(line: string): boolean {
  return /^ {0,3}(?:=+|-+)[ \t]*$/.test(line)
}

export function isQuote(line: string): boolean {
  return /^ {0,3}>/.test(line)
}

/** The line below a table's header. */
export function isDelimiter(line: string): boolean {
  return line.includes('|') && /^ {0,3}\|?(?:[ \t]*:?-+:?[ \t]*\|?)+$/.test(line)
}

/** Whether a line ends a paragraph without a blank one between. */
export function interrupts(line: string): boolean {
  return (
    matchFence(line) !== undefined || isWhole(line) || isQuote(line) || matchMarker(line)?.interrupts === true
  )
}
