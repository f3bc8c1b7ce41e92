import { closeSync, openSync, read, readSync } from 'node:fs'
import { NEWLINE } from '../storage/session-file.ts'
import { READ_FLAGS } from '../storage/session-reader.ts'

/**
 * Whole lines of a file around a place in it; only what is around there is read.
 *
 * What is near is read at once: a trip through the pool of threads takes longer than the read itself, and a search opens
 * twenty files. The rest is awaited.
 */
export class FilePiece implements Disposable {
  readonly #fd: number
  readonly #decoder = new TextDecoder()
  #bytes: Buffer
  /** Where the bytes begin in the file. */
  #start: number
  #isAtEnd = false
  /** Where the next line begins, and where the one before ends. */
  #next: number
  #before: number
  /** Whether a line begins at the place. */
  readonly isLineStart: boolean

  /** Fails as `openSync` does. */
  constructor(path: string, at: number) {
    this.#next = at
    this.#before = at
    this.#start = Math.max(0, at - FIRST_STEP)
    this.#fd = openSync(path, READ_FLAGS)
    const length = at + FIRST_STEP - this.#start
    this.#bytes = readNear(this.#fd, this.#start, length)
    this.#isAtEnd = this.#bytes.length < length
    this.isLineStart = at === 0 || this.#bytes[at - 1 - this.#start] === NEWLINE
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }

  /** The line behind the last one given; undefined at the end, and for one that has no end or is too far. */
  async next(): Promise<string | undefined> {
    let from = this.#next
    for (;;) {
      const end = this.#bytes.indexOf(NEWLINE, from - this.#start)
      if (end >= 0) {
        const line = this.#decode(this.#next - this.#start, end)
        this.#next = this.#start + end + 1
        return line
      }
      from = this.#start + this.#bytes.length
      if (this.#isAtEnd || this.#bytes.length > MAX_BYTES) return undefined
      await this.#readOn(from)
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
        return this.#decode(begin + 1, end)
      }
      if (this.#bytes.length > MAX_BYTES) return undefined
      if (!(await this.#readBack())) return undefined
    }
  }

  /** Grows with what was read, so that a long line is not copied again and again. */
  #step(): number {
    return this.#bytes.length < NEAR ? NEAR_STEP : Math.max(STEP, this.#bytes.length)
  }

  async #readOn(from: number): Promise<void> {
    const length = this.#step()
    const more =
      length === NEAR_STEP ? readNear(this.#fd, from, length) : await readPiece(this.#fd, from, length)
    this.#isAtEnd = more.length === 0
    this.#bytes = Buffer.concat([this.#bytes, more])
  }

  /** False when the file was cut meanwhile. */
  async #readBack(): Promise<boolean> {
    const length = Math.min(this.#start, this.#step())
    const from = this.#start - length
    const more =
      length <= NEAR_STEP ? readNear(this.#fd, from, length) : await readPiece(this.#fd, from, length)
    this.#bytes = Buffer.concat([more, this.#bytes])
    this.#start -= more.length
    return more.length === length
  }

  #decode(from: number, to: number): string {
    return this.#decoder.decode(this.#bytes.subarray(from, to))
  }
}

function readNear(fd: number, from: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length)
  return buffer.subarray(0, readSync(fd, buffer, 0, length, from))
}

function readPiece(fd: number, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, length, from, (error, count) =>
      error ? reject(error) : resolve(buffer.subarray(0, count)),
    )
  })
}

/** In each direction. */
const FIRST_STEP = 4 * 1024
/** Until so much is read, each further step is that small: most messages and their neighbours are in it. */
const NEAR = 32 * 1024
const NEAR_STEP = 12 * 1024
const STEP = 64 * 1024
/** A line with attachments may be as long as the longest message, and a third more. */
const MAX_BYTES = 32 * 1024 * 1024
