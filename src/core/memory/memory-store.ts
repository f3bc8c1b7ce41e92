import { readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { readStamp } from '../base/file-stamp.ts'
import { createFile, isMissingFile, syncDir, toStorageError } from '../base/files.ts'
import { foldName, nameProblem } from '../config/agent-schema.ts'
import { replaceEntries } from './entries.ts'
import { MemoryFile } from './memory-file.ts'
import type { MemoryIndex } from './memory-index.ts'
import { applyOp, type Op } from './ops.ts'
import type { Memory, MemoryEntry, MemoryMatch, MemorySearch } from './types.ts'

export interface MemoryStoreOptions {
  /** Folder of the memory files, one for each agent by its name. */
  folder: string
  /** Takes an exclusive right among all processes of the home. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * What agents remember. Several processes may write at once (decision 34): a change reads what is there, under the
 * lease `memory:<agent>`, and replaces the file; a reader sees a whole memory, the old or the new one.
 *
 * Fails with `storage` for a file that cannot be read or is no memory file, and leaves it as it is.
 */
export class MemoryStore {
  readonly #options: MemoryStoreOptions
  /** By path. */
  readonly #files = new Map<string, MemoryFile>()
  /** By path; of those that were searched. */
  readonly #indexes = new Map<string, MemoryIndex>()

  constructor(options: MemoryStoreOptions) {
    this.#options = options
  }

  /** An agent's memory; empty when there is no file. */
  async read(agent: string): Promise<Memory> {
    return await this.#file(agent).read()
  }

  /** Whether an agent has a memory, or left one. */
  async has(agent: string): Promise<boolean> {
    return (await readStamp(this.#file(agent).path)) !== undefined
  }

  /**
   * Changes one entry and gives it as it is then, or was when it is removed. Durable when it resolves, and nothing has
   * happened when it throws, as applyOp() may. `op` may depend on the memory as it is just before.
   */
  async apply(agent: string, op: Op | ((memory: Memory) => Op), signal: AbortSignal): Promise<MemoryEntry> {
    const file = this.#file(agent)
    await using _ = await this.#lock(file.path, signal)
    const before = await file.read()
    const { memory, entry } = applyOp(before, typeof op === 'function' ? op(before) : op)
    if (memory !== before) await file.write(memory)
    return entry
  }

  /** Puts these entries in place of all there are, in one step; see replaceEntries(). */
  async replace(agent: string, entries: readonly MemoryEntry[], signal: AbortSignal): Promise<Memory> {
    const file = this.#file(agent)
    await using _ = await this.#lock(file.path, signal)
    const memory = replaceEntries(await file.read(), entries)
    await file.write(memory)
    return memory
  }

  /** The entries that match best, best first, at most `limit`. */
  async search(agent: string, search: MemorySearch): Promise<MemoryMatch[]> {
    const file = this.#file(agent)
    const memory = await file.read()
    if (memory.entries.length === 0) return []
    const { MemoryIndex } = await import('./memory-index.ts') // only now: most commands search nothing
    const index = this.#indexes.get(file.path) ?? new MemoryIndex()
    this.#indexes.set(file.path, index)
    return index.search(memory, search)
  }

  /** Writes the file as it would be written after a change. */
  async checkpoint(agent: string, signal: AbortSignal): Promise<void> {
    const file = this.#file(agent)
    await using _ = await this.#lock(file.path, signal)
    await file.write(await file.read())
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
      if ((await readStamp(target)) !== undefined) throw foreign(from, target)
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
      if (isNew && (await readStamp(source)) !== undefined) await rm(target, { force: true })
      throw reason
    }
  }

  /** One name may be written in several ways; its file has one. */
  #lock(path: string, signal: AbortSignal): Promise<AsyncDisposable> {
    return this.#options.lock(`memory:${basename(path, EXTENSION)}`, signal)
  }

  #file(agent: string): MemoryFile {
    const path = this.#path(agent)
    const file = this.#files.get(path) ?? new MemoryFile(path, this.#options.now)
    this.#files.set(path, file)
    return file
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

function foreign(agent: string, path: string): CrabError {
  return new CrabError('conflict', `Cannot rename the agent "${agent}": another memory lies in ${path}`, {
    hint: 'move that file away',
  })
}
