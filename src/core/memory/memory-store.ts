import { readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CrabError, toCrabError } from '../base/errors.ts'
import { stampOf } from '../base/file-stamp.ts'
import { createFile, isMissingFile, replaceFile, syncDir, toStorageError } from '../base/files.ts'
import { foldName, nameProblem } from '../config/agent-schema.ts'
import { decodeMemory, encodeMemory } from './codec.ts'
import { EMPTY_MEMORY, type Memory } from './types.ts'

export interface MemoryStoreOptions {
  /** Folder of the memory files, one for each agent by its name. */
  folder: string
  /** Takes an exclusive right among all processes of the home. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
}

/**
 * What agents remember. Several processes may write at once (decision 34): a change reads what is there, under the
 * lease `memory:<agent>`, and replaces the file; a reader sees a whole memory, the old or the new one.
 *
 * Fails with `storage` for a file that cannot be read or is no memory file, and leaves it as it is.
 */
export class MemoryStore {
  readonly #options: MemoryStoreOptions
  /** By agent: what its file held when it had that stamp. */
  readonly #known = new Map<string, { stamp: string; memory: Memory }>()

  constructor(options: MemoryStoreOptions) {
    this.#options = options
  }

  /** An agent's memory; empty when there is no file. Read again only if the file is another one. */
  async read(agent: string): Promise<Memory> {
    const path = this.#path(agent)
    try {
      const stamp = await stampOf(path)
      const known = this.#known.get(agent)
      if (stamp === undefined) return EMPTY_MEMORY
      if (known?.stamp === stamp) return known.memory
      const memory = decodeMemory(await readFile(path))
      // Written while it was read: what was read is whole, but may be younger than its stamp.
      if ((await stampOf(path)) === stamp) this.#known.set(agent, { stamp, memory })
      return memory
    } catch (reason) {
      if (isMissingFile(reason)) return EMPTY_MEMORY
      throw toReadError(path, reason)
    }
  }

  /** Changes an agent's memory; durable when it resolves, and nothing has happened when it throws, as `change` may. */
  async change(agent: string, change: (memory: Memory) => Memory, signal: AbortSignal): Promise<Memory> {
    const path = this.#path(agent)
    await using _ = await this.#lock(path, signal)
    const after = change(await this.read(agent))
    await replaceFile(path, encodeMemory(after))
    return after
  }

  /**
   * Moves an agent's memory to another name, together with what `act` does, which comes in between.
   *
   * Throws `conflict` when another memory lies there, also for an agent that has none: it shall not get that one. A crash leaves the memory under both names.
   */
  async rename<T>(from: string, to: string, act: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (nameProblem(from) !== undefined || nameProblem(to) !== undefined) return await act() // which says so
    const [source, target] = [this.#path(from), this.#path(to)]
    await using locks = new AsyncDisposableStack()
    for (const path of [...new Set([source, target])].sort()) locks.use(await this.#lock(path, signal))
    if (source === target) return await act()
    const bytes = await readIfThere(source)
    if (bytes === undefined) {
      if ((await stampOf(target)) !== undefined) throw foreign(from, target)
      return await act()
    }
    const isSameFile = foldName(from) === foldName(to) // where upper and lower case are one
    const isNew = !isSameFile && (await createFile(target, bytes))
    if (!isNew && !isSameFile && !bytes.equals((await readIfThere(target)) ?? bytes))
      throw foreign(from, target)
    try {
      const result = await act()
      await (isSameFile ? rename(source, target) : rm(source))
      await syncDir(this.#options.folder)
      return result
    } catch (reason) {
      if (isNew && (await stampOf(source)) !== undefined) await rm(target, { force: true })
      throw reason
    }
  }

  /** One name may be written in several ways; its file has one. */
  #lock(path: string, signal: AbortSignal): Promise<AsyncDisposable> {
    return this.#options.lock(`memory:${basename(path, EXTENSION)}`, signal)
  }

  #path(agent: string): string {
    const wrong = nameProblem(agent)
    if (wrong !== undefined) throw new CrabError('invalid', `Cannot find the memory of "${agent}": ${wrong}`)
    return join(this.#options.folder, agent.normalize('NFC') + EXTENSION)
  }
}

const EXTENSION = '.db'

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw toStorageError(`Cannot read ${path}`, reason)
  }
}

function toReadError(path: string, reason: unknown): CrabError {
  if (!(reason instanceof CrabError)) return toStorageError(`Cannot read ${path}`, reason)
  return new CrabError('storage', `Cannot read ${path}: ${toCrabError(reason).message}`, {
    cause: reason,
    hint: 'put back a copy of it, or move it away to begin an empty memory',
  })
}

function foreign(agent: string, path: string): CrabError {
  return new CrabError('conflict', `Cannot rename the agent "${agent}": another memory lies in ${path}`, {
    hint: 'move that file away',
  })
}
