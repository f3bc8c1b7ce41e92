import { readdir, readFile, rm, utimes } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CrabError, toCrabError } from '../base/errors.ts'
import { readStamp, readStampSync } from '../base/file-stamp.ts'
import { isMissingFile, replaceFile, toStorageError } from '../base/files.ts'
import { decodeMemory } from './decode.ts'
import { encodeMemory } from './encode.ts'
import { EMPTY_MEMORY, type EncodedMemory, type Memory } from './types.ts'

/** One agent's memory file, read again only when it may be another one. */
export class MemoryFile {
  readonly path: string
  readonly #now: () => number
  /** What it held when it had that stamp. */
  #known: { stamp: string; file: EncodedMemory } | undefined
  #isSwept = false

  constructor(path: string, now: () => number) {
    this.path = path
    this.#now = now
  }

  /** What it holds; empty when there is no file. Fails with `storage` for one that cannot be read or is none. */
  async read(): Promise<Memory> {
    try {
      const stamp = readStampSync(this.path)
      if (stamp === undefined) return EMPTY_MEMORY
      if (this.#known?.stamp === stamp) return this.#known.file.memory
      const file = decodeMemory(await readFile(this.path))
      // Written while it was read: what was read is whole, but may be younger than its stamp.
      if ((await readStamp(this.path)) === stamp) this.#known = { stamp, file }
      return file.memory
    } catch (reason) {
      if (isMissingFile(reason)) return EMPTY_MEMORY
      throw toReadError(this.path, reason)
    }
  }

  /** Replaces it; durable when it resolves. Only for whoever holds its lease. */
  async write(memory: Memory): Promise<void> {
    await this.#sweep()
    const file = encodeMemory(memory, this.#known?.file)
    await replaceFile(this.path, file.bytes)
    await this.#markTime()
    const stamp = await readStamp(this.path)
    if (stamp !== undefined) this.#known = { stamp, file }
  }

  /**
   * A file system counts time in steps of some milliseconds, and gives the number of a file that is gone to the next: two
   * contents of one length could have one stamp. A time that is finer than any step makes that all but impossible.
   */
  async #markTime(): Promise<void> {
    const seconds = (this.#now() + Math.random()) / 1000
    await utimes(this.path, seconds, seconds).catch(() => undefined) // the time of its writing is good enough
  }

  /** Removes what writers left that were killed. */
  async #sweep(): Promise<void> {
    if (this.#isSwept) return
    this.#isSwept = true
    const folder = dirname(this.path)
    const names = await readdir(folder).catch(() => []) // no folder yet
    const left = names.filter((name) => name.startsWith(`${basename(this.path)}.`) && name.endsWith('.tmp'))
    await Promise.all(left.map((name) => rm(join(folder, name), { force: true }).catch(() => undefined))) // only untidy
  }
}

function toReadError(path: string, reason: unknown): CrabError {
  if (!(reason instanceof CrabError)) return toStorageError(`Cannot read ${path}`, reason)
  return new CrabError('storage', `Cannot read ${path}: ${toCrabError(reason).message}`, {
    cause: reason,
    hint: 'put back a copy of it, or move it away to begin an empty memory',
  })
}
