import type { FileHandle } from 'node:fs/promises'
import { NEWLINE } from '../storage/session-file.ts'
import { readRange } from '../storage/session-reader.ts'

/** Whole lines of a file around a place in it; only what is around there is read, in steps of 64 KB and more. */
export class FilePiece {
  readonly #file: FileHandle
  readonly #decoder = new TextDecoder()
  #bytes: Buffer = Buffer.alloc(0)
  /** Where the bytes begin in the file. */
  #start: number
  #isAtEnd = false
  /** Where the next line begins, and where the one before ends. */
  #next: number
  #before: number

  constructor(file: FileHandle, at: number) {
    this.#file = file
    this.#start = at
    this.#next = at
    this.#before = at
  }

  /** Reads what is around the place; whether a line begins there. To be called first. */
  async start(): Promise<boolean> {
    const at = this.#start
    this.#start = Math.max(0, at - FIRST_STEP)
    await this.#readTo(at + FIRST_STEP)
    return at === 0 || this.#bytes[at - 1 - this.#start] === NEWLINE
  }

  /** The line behind the last one given; undefined at the end, and for one that has no end or is too far. */
  async next(): Promise<string | undefined> {
    let from = this.#next
    for (;;) {
      const end = this.#bytes.indexOf(NEWLINE, from - this.#start)
      if (end >= 0) {
        const line = this.#textOf(this.#next - this.#start, end)
        this.#next = this.#start + end + 1
        return line
      }
      from = this.#start + this.#bytes.length
      if (this.#isAtEnd || this.#bytes.length > MAX_BYTES) return undefined
      await this.#readTo(from + Math.max(STEP, this.#bytes.length))
    }
  }

  /** The line in front of the first one given; undefined at the beginning, and for one that is too far. */
  async previous(): Promise<string | undefined> {
    if (this.#before === 0) return undefined
    for (;;) {
      const end = this.#before - 1 - this.#start
      const begin = end <= 0 ? -1 : this.#bytes.lastIndexOf(NEWLINE, end - 1)
      if (begin >= 0 || (this.#start === 0 && end >= 0)) {
        this.#before = this.#start + begin + 1
        return this.#textOf(begin + 1, end)
      }
      if (this.#bytes.length > MAX_BYTES) return undefined
      await this.#readBack(Math.max(STEP, this.#bytes.length))
    }
  }

  async #readTo(end: number): Promise<void> {
    const from = this.#start + this.#bytes.length
    const more = await readRange(this.#file, from, end)
    this.#isAtEnd = more.length < end - from
    this.#bytes = this.#bytes.length === 0 ? more : Buffer.concat([this.#bytes, more])
  }

  async #readBack(length: number): Promise<void> {
    const start = Math.max(0, this.#start - length)
    this.#bytes = Buffer.concat([await readRange(this.#file, start, this.#start), this.#bytes])
    this.#start = start
  }

  #textOf(from: number, to: number): string {
    return this.#decoder.decode(this.#bytes.subarray(from, to))
  }
}

/** In each direction: most messages and their neighbours are in it. */
const FIRST_STEP = 16 * 1024
const STEP = 64 * 1024
/** A line with attachments may be as long as the longest message, and a third more. */
const MAX_BYTES = 32 * 1024 * 1024
