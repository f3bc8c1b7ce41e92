import { readdir, readFile, rm, utimes } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CrabError, toCrabError } from '../base/errors.ts'
import { readStamp, readStampSync } from '../base/file-stamp.ts'
import { isMissingFile, replaceFile, toStorageError } from '../base/files.ts'
import { decodeMemory } from './decode.ts'
import { encodeMemory } from './encode.ts'
import { EMPTY_MEMORY, type EncodedMemory, type Memory } from './types.ts'

/** One agent's memory file; it is only read again when it may have changed. */
export class MemoryFile {
  readonly path: string
  readonly #now: () => number
  /** The last known contents, and the stamp of the file at the time. */
  #known: { stamp: string; file: EncodedMemory } | undefined
  #isSwept = false

  constructor(path: string, now: () => number) {
    this.path = path
    this.#now = now
  }

  /**
   * Reads the memory; an empty one when there is no file. Throws `storage` when the file is unreadable or
   * malformed.
   */
  async read(): Promise<Memory> {
    try {
      const stamp = readStampSync(this.path)
      if (stamp === undefined) return EMPTY_MEMORY
      if (this.#known?.stamp === stamp) return this.#known.file.memory
      const file = decodeMemory(await readFile(this.path))
      // If the file was replaced during the read, the contents are complete but may be newer than the stamp.
      if ((await readStamp(this.path)) === stamp) this.#known = { stamp, file }
      return file.memory
    } catch (reason) {
      if (isMissingFile(reason)) return EMPTY_MEMORY
      throw toReadError(this.path, reason)
    }
  }

  /** Replaces the file; durable when it resolves. The caller must hold its lease. */
  async write(memory: Memory): Promise<void> {
    await this.#sweep()
    const file = encodeMemory(memory, this.#known?.file)
    await replaceFile(this.path, file.bytes)
    await this.#markTime()
    const stamp = await readStamp(this.path)
    if (stamp !== undefined) this.#known = { stamp, file }
  }

  /**
   * Sets a random sub-millisecond time. File systems count time in steps of some milliseconds and reuse
   * inodes, so two versions of the same length could have the same stamp; this makes that all but impossible.
   */
  async #markTime(): Promise<void> {
    const seconds = (this.#now() + Math.random()) / 1000
    await utimes(this.path, seconds, seconds).catch(() => undefined) // the time of the write is good enough
  }

  /** Removes temporary files of writers that were killed. */
  async #sweep(): Promise<void> {
    if (this.#isSwept) return
    this.#isSwept = true
    const folder = dirname(this.path)
    const names = await readdir(folder).catch(() => []) // the folder does not exist yet
    const left = names.filter((name) => name.startsWith(`${basename(this.path)}.`) && name.endsWith('.tmp'))
    // remaining files are harmless
    await Promise.all(left.map((name) => rm(join(folder, name), { force: true }).catch(() => undefined)))
  }
}

function toReadError(path: string, reason: unknown): CrabError {
  if (!(reason instanceof CrabError)) return toStorageError(`Cannot read ${path}`, reason)
  return new CrabError('storage', `Cannot read ${path}: ${toCrabError(reason).message}`, {
    cause: reason,
    hint: 'restore a copy of it, or move it away to start with an empty memory',
  })
}
