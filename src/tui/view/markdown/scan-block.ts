import {
  closesFence,
  interrupts,
  isBlank,
  isDelimiter,
  isQuote,
  isSetext,
  isWhole,
  type Line,
  type Marker,
  matchFence,
  matchMarker,
  measureIndent,
} from './line-kinds.ts'

/** Returns the line after another; undefined when it does not exist, or has not arrived yet. */
export type NextLine = (line: Line) => Line | undefined

/** The end of a block or of a part of a long block, with the state needed to continue after it. */
export interface BlockEnd {
  end: number
  /** Empty when the block is complete. */
  carry: string
}

/** The limits, in lines and characters, after which a long block is split. */
const CODE_LINES = 24
const CODE_LINES_TO_BLANK = 12
const MAX_LINES = 60
const MAX_CHARS = 3_000
const MAX_ITEM_LINES = 200
const MAX_ITEM_CHARS = 8_000

/**
 * Scans a block from its first line, which is not blank; undefined while the block may still grow.
 *
 * Decisions depend only on the lines read so far, so the result is the same for any chunking of the input.
 */
export function scanBlock(first: Line, nextLine: NextLine, isOver: boolean): BlockEnd | undefined {
  const { text } = first
  const scan = new BlockScan(first, nextLine, isOver)
  const fence = matchFence(text)
  if (fence !== undefined) return scan.code(fence, text)
  if (isWhole(text)) return { end: first.next, carry: '' }
  if (isQuote(text)) return scan.quote()
  const marker = matchMarker(text)
  if (marker) return scan.item(marker)
  return measureIndent(text) >= 4 ? scan.indented() : scan.paragraph()
}

/** Continues a fence that started in an earlier part; `first` is the line after that part. */
export function scanFence(
  first: Line,
  nextLine: NextLine,
  opening: string,
  isOver: boolean,
): BlockEnd | undefined {
  const fence = matchFence(opening) ?? '```'
  return new BlockScan(first, nextLine, isOver).restOfCode(first, fence, opening)
}

/** Continues a table that started in an earlier part. */
export function scanTable(
  first: Line,
  nextLine: NextLine,
  header: string,
  isOver: boolean,
): BlockEnd | undefined {
  return new BlockScan(first, nextLine, isOver).rows(first, header)
}

/** Scans one block, line by line. */
class BlockScan {
  readonly #first: Line
  readonly #nextLine: NextLine
  readonly #isOver: boolean

  constructor(first: Line, nextLine: NextLine, isOver: boolean) {
    this.#first = first
    this.#nextLine = nextLine
    this.#isOver = isOver
  }

  code(fence: string, opening: string): BlockEnd | undefined {
    const line = this.#nextLine(this.#first)
    return line ? this.restOfCode(line, fence, opening) : this.#atEnd(this.#first)
  }

  restOfCode(first: Line, fence: string, opening: string): BlockEnd | undefined {
    let last = first
    for (let line: Line | undefined = first, count = 1; line; line = this.#nextLine(line), count++) {
      if (closesFence(line.text, fence)) return { end: line.next, carry: '' }
      const most = isBlank(line.text) ? CODE_LINES_TO_BLANK : CODE_LINES
      if (count >= most || line.next - first.start > MAX_ITEM_CHARS) {
        return { end: line.next, carry: `f${opening}` }
      }
      last = line
    }
    return this.#atEnd(last)
  }

  paragraph(): BlockEnd | undefined {
    let last = this.#first
    if (last.next - last.start > MAX_CHARS) return { end: last.next, carry: 'p' }
    for (let line = this.#nextLine(last); line; line = this.#nextLine(line)) {
      if (isBlank(line.text)) return whole(line)
      if (isSetext(line.text)) return { end: line.next, carry: '' }
      if (isDelimiter(line.text) && last.text.includes('|')) return this.#table(last, line)
      if (interrupts(line.text)) return whole(line)
      if (line.next - this.#first.start > MAX_CHARS) return { end: line.next, carry: 'p' }
      last = line
    }
    return this.#atEnd(last)
  }

  #table(header: Line, delimiter: Line): BlockEnd | undefined {
    const line = this.#nextLine(delimiter)
    return line ? this.rows(line, `${header.text}\n${delimiter.text}`) : this.#atEnd(delimiter)
  }

  rows(first: Line, header: string): BlockEnd | undefined {
    let last = first
    for (let line: Line | undefined = first, count = 1; line; line = this.#nextLine(line), count++) {
      if (isBlank(line.text) || interrupts(line.text)) return whole(line)
      if (count >= MAX_LINES || line.next - first.start > MAX_ITEM_CHARS) {
        return { end: line.next, carry: `t${header}` }
      }
      last = line
    }
    return this.#atEnd(last)
  }

  quote(): BlockEnd | undefined {
    let last = this.#first
    for (let line = this.#nextLine(last), count = 2; line; line = this.#nextLine(line), count++) {
      if (isBlank(line.text)) return whole(line)
      if (!isQuote(line.text) && interrupts(line.text)) return whole(line)
      if (count >= MAX_LINES || line.next - this.#first.start > MAX_CHARS) {
        return { end: line.next, carry: 'q' }
      }
      last = line
    }
    return this.#atEnd(last)
  }

  indented(): BlockEnd | undefined {
    let last = this.#first
    for (let line = this.#nextLine(last), count = 2; line; line = this.#nextLine(line), count++) {
      if (!isBlank(line.text) && measureIndent(line.text) < 4) return whole(line)
      if (count >= CODE_LINES || line.next - this.#first.start > MAX_ITEM_CHARS) {
        return { end: line.next, carry: 'c' }
      }
      last = line
    }
    return this.#atEnd(last)
  }

  /** Scans one list item with everything nested in it; the next item is a block of its own. */
  item({ kind, offset }: Marker): BlockEnd | undefined {
    let last = this.#first
    let isBehindBlank = false
    for (let line = this.#nextLine(last), count = 2; line; line = this.#nextLine(line), count++) {
      const blank = isBlank(line.text)
      if (!blank && measureIndent(line.text) < offset && (isBehindBlank || endsItem(line.text))) {
        return { end: line.start, carry: `l${kind}` }
      }
      isBehindBlank = blank
      if (count >= MAX_ITEM_LINES || line.next - this.#first.start > MAX_ITEM_CHARS) {
        return { end: line.next, carry: `l${kind}` }
      }
      last = line
    }
    return this.#atEnd(last)
  }

  #atEnd(last: Line): BlockEnd | undefined {
    return this.#isOver ? { end: last.next, carry: '' } : undefined
  }
}

/** Ends the block before this line. */
function whole(line: Line): BlockEnd {
  return { end: line.start, carry: '' }
}

function endsItem(line: string): boolean {
  return interrupts(line) || matchMarker(line) !== undefined
}
