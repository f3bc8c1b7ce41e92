import { DIGIT, LOWER, UPPER } from './characters.ts'

/**
 * Splits a name written as one word into its parts: `get|User|Name`, `HTTP|Server|2`, `sha|256`.
 *
 * Long words with digits among their letters, such as hashes and encoded bytes, are not names and stay whole.
 */
export class NameParts {
  /** The number of parts after the first; 0 for a word that is not split. */
  count = 0
  /** The start of each of these parts: as a byte offset, and in UTF-16 units of the text. */
  readonly bytes = new Uint32Array(MAX_PARTS)
  readonly units = new Uint32Array(MAX_PARTS)
  #last = 0
  #upperRun = 0
  /** The position of the last upper case letter. */
  #byte = 0
  #unit = 0
  #isNumber = false
  #isMixed = false

  /** Starts a new word. */
  start(): void {
    this.count = 0
    this.#last = 0
    this.#upperRun = 0
    this.#isNumber = false
    this.#isMixed = false
  }

  /**
   * Records a character. Must be called for the first one, each upper case letter, and each whose kind
   * differs from the one before.
   */
  turn(kind: number, byte: number, unit: number): void {
    const last = this.#last
    this.#last = kind
    if (kind === UPPER) this.#upper(last, byte, unit)
    else if (last === 0) return
    else if (kind === DIGIT) this.#digit(byte, unit)
    else if (last === DIGIT) this.#mix()
    else if (this.#upperRun > 1) this.#begin(this.#byte, this.#unit)
  }

  /** Ends the word, whose bytes are `start` to `end`. */
  finish(start: number, end: number): void {
    const isPlural = this.#last === LOWER && this.#upperRun > 1 && end - this.bytes[this.count - 1]! === 2
    if (isPlural) this.count-- // the plural of an acronym: URLs, IDs
    if (this.count > MAX_PARTS || (this.#isMixed && end - start >= MIN_MIXED)) this.count = 0
  }

  #upper(last: number, byte: number, unit: number): void {
    this.#upperRun = last === UPPER ? this.#upperRun + 1 : 1
    if (last !== UPPER && last !== 0) this.#begin(byte, unit)
    this.#byte = byte
    this.#unit = unit
  }

  #digit(byte: number, unit: number): void {
    this.#isNumber = !this.#isMixed
    if (this.#isNumber) this.#begin(byte, unit)
  }

  /** Handles a letter after a digit: the number is not a part of its own. */
  #mix(): void {
    if (this.#isNumber) this.count--
    this.#isNumber = false
    this.#isMixed = true
  }

  #begin(byte: number, unit: number): void {
    if (this.count < MAX_PARTS) {
      this.bytes[this.count] = byte
      this.units[this.count] = unit
    }
    this.count++
  }
}

const MAX_PARTS = 8
const MIN_MIXED = 16
