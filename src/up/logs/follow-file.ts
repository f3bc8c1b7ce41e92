import { type FileHandle, open, stat } from 'node:fs/promises'
import type { FileOffset } from './tail.ts'

/**
 * Reads on in a file that others write: what was added, also what was written before the file was set aside and another
 * one took its name, or before it was cut. Whole lines only; one that does not end comes when it is too long.
 */
export class FileFollower implements AsyncDisposable {
  readonly #path: string
  #file: FileHandle | undefined
  #at: FileOffset | undefined
  #rest = Buffer.alloc(0)

  /** Goes on where it was read to; a file that was not there is read from its beginning. */
  constructor(path: string, from: FileOffset | undefined) {
    this.#path = path
    this.#at = from
  }

  /** The lines that came since it was last asked. */
  async next(): Promise<string[]> {
    const lines: string[] = []
    await this.#openFirst()
    for (;;) {
      await this.#readTo(lines)
      if (!(await this.#moveOn(lines))) return lines
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  async #openFirst(): Promise<void> {
    if (this.#file) return
    this.#file = (await this.#openAside()) ?? (await open(this.#path, 'r').catch(() => undefined)) // not there yet
    if (!this.#file) return
    const { ino } = await this.#file.stat({ bigint: true })
    if (this.#at?.id !== ino) this.#at = { id: ino, offset: 0 }
  }

  /** The file that was read before, where it was set aside since. */
  async #openAside(): Promise<FileHandle | undefined> {
    const file = this.#at && (await open(`${this.#path}.1`, 'r').catch(() => undefined)) // none was
    if (!file || (await file.stat({ bigint: true })).ino === this.#at?.id) return file
    await file.close()
    return undefined
  }

  async #readTo(lines: string[]): Promise<void> {
    const file = this.#file
    const at = this.#at
    if (!file || !at) return
    const { size } = await file.stat()
    if (size < at.offset) {
      at.offset = 0 // it was cut
      this.#rest = Buffer.alloc(0)
    }
    const piece = Buffer.alloc(CHUNK_BYTES)
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, CHUNK_BYTES, at.offset)
      if (bytesRead === 0) return
      at.offset += bytesRead
      this.#take(piece.subarray(0, bytesRead), lines)
    }
  }

  #take(piece: Uint8Array, lines: string[]): void {
    const bytes = Buffer.concat([this.#rest, piece])
    const whole = bytes.length > MOST_LINE_BYTES ? bytes.length : bytes.lastIndexOf(LF) + 1
    this.#rest = Buffer.from(bytes.subarray(whole))
    if (whole === 0) return
    const text = bytes.subarray(0, whole).toString('utf8')
    lines.push(...(text.endsWith('\n') ? text.slice(0, -1) : text).split('\n'))
  }

  /** Whether another file has the name by now; it is read from its beginning then, and this one to its end before. */
  async #moveOn(lines: string[]): Promise<boolean> {
    const now = await stat(this.#path, { bigint: true }).catch(() => undefined) // set aside, and no other yet
    if (!now || !this.#at || now.ino === this.#at.id) return false
    const file = await open(this.#path, 'r').catch(() => undefined)
    if (!file) return false
    await this.#readTo(lines) // written after it was read, and before it was set aside
    if (this.#rest.length > 0) lines.push(this.#rest.toString('utf8'))
    await this.#file?.close()
    this.#file = file
    this.#at = { id: (await file.stat({ bigint: true })).ino, offset: 0 }
    this.#rest = Buffer.alloc(0)
    return true
  }
}

const LF = 0x0a
const CHUNK_BYTES = 64 * 1024
const MOST_LINE_BYTES = 1024 * 1024
