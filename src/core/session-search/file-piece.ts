import { closeSync, openSync, read, readSync } from 'node:fs'
import { NEWLINE } from '../storage/session-file.ts'
import { READ_FLAGS } from '../storage/session-reader.ts'

/**
 * Reads whole lines of a file around a byte offset; it only reads the bytes near there.
 *
 * Nearby bytes are read synchronously: a round trip through the thread pool takes longer than the read
 * itself, and a search opens twenty files. Reads of distant bytes are asynchronous.
 */
export class FilePiece implements Disposable {
  readonly #fd: number
  readonly #decoder = new TextDecoder()
  #bytes: Buffer
  /** The offset of the bytes in the file. */
  #start: number
  #isAtEnd = false
  /** The start of the next line, and the end of the previous one. */
  #next: number
  #before: number
  /** Whether a line begins at the offset. */
  readonly isLineStart: boolean

  /** Throws what `openSync` throws. */
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

  /**
   * Returns the next line after those already returned; undefined at the end, and for a line that is
   * incomplete or too long.
   */
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

  /**
   * Returns the line before those already returned; undefined at the beginning, and for a line that is too
   * long.
   */
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

  /** Grows with the bytes already read, so that a long line is not copied over and over. */
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

  /** Returns false when the file was truncated meanwhile. */
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

/** The bytes first read in each direction. */
const FIRST_STEP = 4 * 1024
/** Up to this many bytes, each further step is small: they hold most messages and their neighbors. */
const NEAR = 32 * 1024
const NEAR_STEP = 12 * 1024
const STEP = 64 * 1024
/** The longest line: a message of maximum length with attachments, which take a third more. */
const MAX_BYTES = 32 * 1024 * 1024
