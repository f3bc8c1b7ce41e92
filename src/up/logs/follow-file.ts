import { type FileHandle, open, stat } from 'node:fs/promises'
import type { FileOffset } from './tail.ts'

/**
 * Follows a file that other processes write and rotate. It returns appended lines, including those written
 * just before the file was renamed to `FILE.1` and replaced; after a truncation it reads from the beginning.
 * It returns whole lines only, except that a line over 1 MiB is returned in parts.
 */
export class FileFollower implements AsyncDisposable {
  readonly #path: string
  #file: FileHandle | undefined
  #at: FileOffset | undefined
  #rest = Buffer.alloc(0)

  /** Continues at `from`; a file other than the one `from` names is read from its beginning. */
  constructor(path: string, from: FileOffset | undefined) {
    this.#path = path
    this.#at = from
  }

  /** Returns the lines written since the last call. */
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
    // Undefined while the file does not exist.
    this.#file = (await this.#openAside()) ?? (await open(this.#path, 'r').catch(() => undefined))
    if (!this.#file) return
    const { ino } = await this.#file.stat({ bigint: true })
    if (this.#at?.id !== ino) this.#at = { id: ino, offset: 0 }
  }

  /** Opens the file that was read before, when it has been rotated since. */
  async #openAside(): Promise<FileHandle | undefined> {
    const file = this.#at && (await open(`${this.#path}.1`, 'r').catch(() => undefined)) // there is no rotated file
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
      at.offset = 0 // it was truncated
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
    const whole = bytes.length > MAX_LINE_BYTES ? bytes.length : bytes.lastIndexOf(LF) + 1
    this.#rest = Buffer.from(bytes.subarray(whole))
    if (whole === 0) return
    const text = bytes.subarray(0, whole).toString('utf8')
    lines.push(...(text.endsWith('\n') ? text.slice(0, -1) : text).split('\n'))
  }

  /**
   * Switches to the file that now has the name, if it is another one, after reading the old file to its end.
   * Returns whether it switched.
   */
  async #moveOn(lines: string[]): Promise<boolean> {
    const now = await stat(this.#path, { bigint: true }).catch(() => undefined) // rotated, and not recreated yet
    if (!now || !this.#at || now.ino === this.#at.id) return false
    const file = await open(this.#path, 'r').catch(() => undefined)
    if (!file) return false
    await this.#readTo(lines) // lines written after the last read and before the rotation
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
const MAX_LINE_BYTES = 1024 * 1024
