import { MAX_DOCUMENT_TERMS } from '../types.ts'
import {
  type CharacterPage,
  CharacterTable,
  composeText,
  DIGIT,
  FIRST_TEXT,
  IGNORED,
  isLoose,
  JOINER,
  LOWER,
  SEPARATOR,
  SIGN,
  UPPER,
} from './characters.ts'
import { endsInIe, singularEnd } from './fold-plural.ts'
import { NameParts } from './name-parts.ts'
import { hasLeadingDot, isBetweenDigits, isLoneLetter, isVersionWord, markEnd } from './spelling.ts'
import { cutUtf8, finishHash, HASH_SEED, hashTerm, mixByte, utf8Length, writeUtf8 } from './term-bytes.ts'

/** Whether a text is a document or a query. They differ in scripts without blanks, and in one-letter words. */
export type TermMode = 'document' | 'query'

/** The maximum length of a term in UTF-8 bytes; longer terms are truncated between characters. */
export const MAX_TERM_BYTES = 64
/** The maximum number of terms of a query; later terms are ignored. */
export const MAX_QUERY_TERMS = 256

/**
 * Splits one text at a time into terms, in buffers that the next text reuses.
 *
 * Words are folded, English plurals too. A name (`getUserName`, `get_user_name`, `user-name`, `package.json`,
 * `sha256`) yields its parts, and the whole without its joiners, so that all spellings match. Scripts without
 * blanks yield pairs of adjacent characters; documents each single character, too. `C++`, `F#` and `.NET` are
 * terms with their marks. Single ASCII characters are terms only when they are names (`C`, `R`).
 */
export class TermBuffer {
  /** The number of terms: at most MAX_DOCUMENT_TERMS, or MAX_QUERY_TERMS in a query. */
  count = 0
  /**
   * UTF-8; term `i` is `bytes[starts[i]]` to `bytes[ends[i]]` (exclusive). Ranges of several terms may
   * overlap.
   */
  bytes: Uint8Array = new Uint8Array(1024)
  starts: Uint32Array = new Uint32Array(256)
  ends: Uint32Array = new Uint32Array(256)
  /** Computed by `hashTerm`. */
  hashes: Uint32Array = new Uint32Array(256)
  /** The position of the term in the text that `composeText` returns, in UTF-16 units: begin and end. */
  froms: Uint32Array = new Uint32Array(256)
  tos: Uint32Array = new Uint32Array(256)

  readonly #table: CharacterTable
  readonly #ascii: CharacterPage
  readonly #parts = new NameParts()
  /** The number of bytes in use. */
  #used = 0
  #max = 0
  #isLoose = false
  /** The position of the next term in the text. */
  #from = 0
  #to = 0

  /** Creates an empty buffer; several buffers may share one table. */
  constructor(table = new CharacterTable()) {
    this.#table = table
    this.#ascii = table.ascii
  }

  /** Splits a text. Replaces the contents of the arrays and may replace the arrays themselves. */
  fill(text: string, mode: TermMode): void {
    this.#isLoose = false
    this.#read(text, mode)
    if (this.#isLoose) this.#read(composeText(text), mode)
  }

  #read(text: string, mode: TermMode): void {
    this.count = 0
    this.#used = 0
    this.#max = mode === 'query' ? MAX_QUERY_TERMS : MAX_DOCUMENT_TERMS
    for (let at = 0; at < text.length && this.count < this.#max; ) {
      const kind = this.#kindAt(text, at)
      if (kind === SIGN) at = this.#readSigns(text, at, mode)
      else if (isOfWord(kind)) {
        const first = this.count
        at = this.#readName(text, at, mode)
        this.#foldPlurals(first)
      } else at += isWide(text, at) ? 2 : 1
    }
  }

  #kindAt(text: string, at: number): number {
    const unit = text.charCodeAt(at)
    return unit < 128 ? this.#ascii.classes[unit]! : this.#classify(text.codePointAt(at)!)
  }

  #classify(code: number): number {
    if (isLoose(code)) this.#isLoose = true
    return this.#table.getPage(code).classes[code & 255]!
  }

  /**
   * Reads words linked by single joiners: each yields its terms, then all together yield one. Returns the end
   * of the last word.
   */
  #readName(text: string, from: number, mode: TermMode): number {
    const isDotted = hasLeadingDot(text, from)
    if (isDotted) this.#writeMark(DOT)
    const start = this.#used
    let to = this.#readWord(text, from)
    if (isDotted) this.#putRange(start - 1, from - 1, to)
    if (!this.#continues(text, to)) return this.#readMark(text, { from, to, start, mode })
    const first = start + (isVersionWord(text, from, to) ? 1 : 0)
    do {
      if (text.charCodeAt(to) === DOT && isBetweenDigits(text, to)) this.#used = this.#write(DOT, this.#used)
      to = this.#readWord(text, to + 1)
    } while (this.#continues(text, to))
    const end = Math.min(this.#used, cutUtf8(this.bytes, first, first + MAX_TERM_BYTES))
    this.#setRange(from, to)
    this.#put(first, end, hashTerm(this.bytes, first, end))
    return to
  }

  /** Reads the mark of a single word whose bytes begin at `start`; returns where both end. */
  #readMark(text: string, word: { from: number; to: number; start: number; mode: TermMode }): number {
    const { from, to, start, mode } = word
    const end = markEnd(text, from, to)
    for (let at = to; at < end; at++) this.#writeMark(text.charCodeAt(at))
    if (end > to) this.#putRange(start, from, end)
    else if (this.#used - start === 1) this.#readLetter(text, from, mode)
    return end
  }

  /** Adds a one-letter name. In documents it has to be a capital; in queries any case is accepted. */
  #readLetter(text: string, from: number, mode: TermMode): void {
    if (!isLoneLetter(text, from) || (mode === 'document' && this.#kindAt(text, from) !== UPPER)) return
    const start = this.#used - 1
    this.#setRange(from, from + 1)
    this.#append(start, this.#used, hashTerm(this.bytes, start, this.#used))
  }

  #writeMark(code: number): void {
    this.#reserve()
    this.bytes[this.#used++] = code
  }

  /** Folds the plurals among the terms from `first` on; rewritten terms are appended to the bytes. */
  #foldPlurals(first: number): void {
    for (let i = first; i < this.count; i++) {
      const start = this.starts[i]!
      const last = this.bytes[this.ends[i]! - 1]
      if (last !== LOWER_S && last !== LOWER_E) continue
      this.ends[i] = singularEnd(this.bytes, start, this.ends[i]!)
      if (endsInIe(this.bytes, start, this.ends[i]!)) this.#endInY(i)
      this.hashes[i] = hashTerm(this.bytes, this.starts[i]!, this.ends[i]!)
    }
  }

  #endInY(i: number): void {
    this.#reserve()
    const at = this.#used
    this.bytes.copyWithin(at, this.starts[i]!, this.ends[i]! - 2)
    const end = at + this.ends[i]! - this.starts[i]! - 1
    this.bytes[end - 1] = LOWER_Y
    this.starts[i] = at
    this.ends[i] = end
    this.#used = end
  }

  /** Whether a name continues after a joiner. A dot before a capital ends a sentence. */
  #continues(text: string, at: number): boolean {
    const unit = text.charCodeAt(at)
    if (!(unit < 128) || this.#ascii.classes[unit] !== JOINER || at + 1 === text.length) return false
    const kind = this.#kindAt(text, at + 1)
    return isOfWord(kind) && (unit !== DOT || kind !== UPPER)
  }

  /** Reads a word and its parts; returns where it ends. */
  #readWord(text: string, from: number): number {
    this.#reserve()
    const { classes, folds } = this.#ascii
    const { bytes } = this
    const parts = this.#parts
    const start = this.#used
    const limit = start + MAX_TERM_BYTES
    let used = start
    let hash = HASH_SEED
    let last = SEPARATOR
    let at = from
    parts.start()
    for (let code = 0; at < text.length; at += code > 0xffff ? 2 : 1) {
      code = text.charCodeAt(at)
      const isAscii = code < 128
      if (!isAscii) code = text.codePointAt(at)!
      const kind = isAscii ? classes[code]! : this.#classify(code)
      if (kind === IGNORED) continue
      if (!isOfWord(kind)) break
      if (kind !== last || kind === UPPER) parts.turn(kind, used, at)
      last = kind
      let end = used
      if (!isAscii) end = this.#writeFolded(code, used, limit)
      else if (used < limit) bytes[end++] = folds[code]!
      for (; used < end; used++) hash = mixByte(hash, bytes[used]!)
    }
    this.#used = used
    this.#setRange(from, at)
    this.#put(start, used, finishHash(hash))
    if (used < limit && parts.count > 0) this.#putParts(start, from)
    return at
  }

  /** Adds the parts of the word that was added last. */
  #putParts(start: number, from: number): void {
    const parts = this.#parts
    const to = this.#to
    parts.finish(start, this.#used)
    if (parts.count === 0) return
    for (let i = 0, at = start, unit = from; i <= parts.count; i++) {
      const end = i < parts.count ? parts.bytes[i]! : this.#used
      const next = i < parts.count ? parts.units[i]! : to
      this.#setRange(unit, next)
      this.#put(at, end, hashTerm(this.bytes, at, end))
      at = end
      unit = next
    }
  }

  /** Reads a run of letters of a script without blanks; returns where the run ends. */
  #readSigns(text: string, from: number, mode: TermMode): number {
    let before = -1
    let beforeUnit = from
    let at = from
    let length = 0
    while (at < text.length) {
      const kind = this.#kindAt(text, at)
      if (kind !== SIGN && kind !== IGNORED) break
      const code = text.codePointAt(at)!
      const next = at + (code > 0xffff ? 2 : 1)
      if (kind === SIGN) {
        this.#reserve()
        const start = this.#used
        this.#used = this.#writeFolded(code, start, start + MAX_TERM_BYTES)
        if (mode === 'document') this.#putRange(start, at, next)
        if (before >= 0) this.#putRange(before, beforeUnit, next)
        before = start
        beforeUnit = at
        length++
      }
      at = next
    }
    if (mode === 'query' && length === 1) this.#putRange(before, from, at)
    return at
  }

  /** Writes as much of a character's folded form as fits before `limit`; returns where it ends. */
  #writeFolded(code: number, at: number, limit: number): number {
    const fold = this.#table.getPage(code).folds[code & 255]!
    if (fold < FIRST_TEXT) return this.#write(fold, at, limit)
    let end = at
    for (const char of this.#table.texts[fold - FIRST_TEXT]!)
      end = this.#write(char.codePointAt(0)!, end, limit)
    return end
  }

  #write(code: number, at: number, limit = this.bytes.length): number {
    return at + utf8Length(code) <= limit ? writeUtf8(this.bytes, at, code) : at
  }

  /** Adds a term of the bytes written from `start` on. */
  #putRange(start: number, from: number, to: number): void {
    this.#setRange(from, to)
    this.#put(start, this.#used, hashTerm(this.bytes, start, this.#used))
  }

  #setRange(from: number, to: number): void {
    this.#from = from
    this.#to = to
  }

  #put(start: number, end: number, hash: number): void {
    if (end - start >= MIN_TERM_BYTES && end - start <= MAX_TERM_BYTES) this.#append(start, end, hash)
  }

  #append(start: number, end: number, hash: number): void {
    const { count } = this
    if (count === this.#max) return
    if (count === this.starts.length) this.#growTerms()
    this.starts[count] = start
    this.ends[count] = end
    this.hashes[count] = hash
    this.froms[count] = this.#from
    this.tos[count] = this.#to
    this.count = count + 1
  }

  #growTerms(): void {
    this.starts = doubleCapacity(this.starts)
    this.ends = doubleCapacity(this.ends)
    this.hashes = doubleCapacity(this.hashes)
    this.froms = doubleCapacity(this.froms)
    this.tos = doubleCapacity(this.tos)
  }

  /** Makes room for one word. */
  #reserve(): void {
    if (this.bytes.length - this.#used >= 2 * MAX_TERM_BYTES) return
    const bytes = new Uint8Array(2 * this.bytes.length)
    bytes.set(this.bytes)
    this.bytes = bytes
  }
}

function isOfWord(kind: number): boolean {
  return kind === LOWER || kind === UPPER || kind === DIGIT
}

function isWide(text: string, at: number): boolean {
  return text.charCodeAt(at) >= 0xd800 && text.codePointAt(at)! > 0xffff
}

function doubleCapacity(array: Uint32Array): Uint32Array {
  const next = new Uint32Array(2 * array.length)
  next.set(array)
  return next
}

const MIN_TERM_BYTES = 2
const DOT = 0x2e
const LOWER_E = 0x65
const LOWER_S = 0x73
const LOWER_Y = 0x79
