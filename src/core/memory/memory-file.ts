import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CrabError, toCrabError } from '../base/errors.ts'
import { isYoung, stampOf } from '../base/file-stamp.ts'
import { isMissingFile, replaceFile, toStorageError } from '../base/files.ts'
import { decodeMemory, encodeMemory } from './codec.ts'
import { EMPTY_MEMORY, type Memory } from './types.ts'

/** One agent's memory file, read again only when it may be another one. */
export class MemoryFile {
  readonly path: string
  readonly #now: () => number
  #known: Known | undefined
  #isSwept = false

  constructor(path: string, now: () => number) {
    this.path = path
    this.#now = now
  }

  /** What it holds; empty when there is no file. Fails with `storage` for one that cannot be read or is none. */
  async read(): Promise<Memory> {
    try {
      const stamp = await stampOf(this.path)
      if (stamp === undefined) return EMPTY_MEMORY
      const known = this.#known?.stamp === stamp ? this.#known : undefined
      if (known && known.bytes === undefined) return known.memory
      const bytes = await readFile(this.path)
      const memory = known?.bytes?.equals(bytes) ? known.memory : decodeMemory(bytes)
      // Written while it was read: what was read is whole, but may be younger than its stamp.
      if ((await stampOf(this.path)) === stamp) this.#know(stamp, memory, bytes)
      return memory
    } catch (reason) {
      if (isMissingFile(reason)) return EMPTY_MEMORY
      throw toReadError(this.path, reason)
    }
  }

  /** Replaces it; durable when it resolves. Only for whoever holds its lease. */
  async write(memory: Memory): Promise<void> {
    await this.#sweep()
    const bytes = encodeMemory(memory)
    await replaceFile(this.path, bytes)
    const stamp = await stampOf(this.path)
    if (stamp !== undefined) this.#know(stamp, memory, bytes)
  }

  #know(stamp: string, memory: Memory, bytes: Buffer): void {
    this.#known = { stamp, memory, bytes: isYoung(stamp, this.#now()) ? bytes : undefined }
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

/** What the file held when it had that stamp. */
interface Known {
  stamp: string
  memory: Memory
  /** As long as another content may have that stamp. */
  bytes: Buffer | undefined
}

function toReadError(path: string, reason: unknown): CrabError {
  if (!(reason instanceof CrabError)) return toStorageError(`Cannot read ${path}`, reason)
  return new CrabError('storage', `Cannot read ${path}: ${toCrabError(reason).message}`, {
    cause: reason,
    hint: 'put back a copy of it, or move it away to begin an empty memory',
  })
}
