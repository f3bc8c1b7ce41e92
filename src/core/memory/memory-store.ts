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

/** The dependencies of a memory store. */
export interface MemoryStoreOptions {
  /** The folder of the memory files, one per agent, named after the agent. */
  folder: string
  /** Acquires a lease that is exclusive among all processes of the home. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** Returns milliseconds since 1970. */
  now(): number
}

/**
 * Stores the memories of agents. Several processes may write simultaneously: a change re-reads the file under
 * the lease `memory:<agent>` and replaces it; readers see a complete memory, either the old or the new one
 * (ADR 0126).
 *
 * Throws `storage` for a file that is unreadable or malformed, and leaves it unchanged.
 */
export class MemoryStore {
  readonly #options: MemoryStoreOptions
  /** The memories by path. */
  readonly #files = new Map<string, MemoryFile>()
  /** The indexes of the memories that were searched, by path. */
  readonly #indexes = new Map<string, MemoryIndex>()

  constructor(options: MemoryStoreOptions) {
    this.#options = options
  }

  /** Reads an agent's memory; empty when there is no file. */
  async read(agent: string): Promise<Memory> {
    return await this.#file(agent).read()
  }

  /** Whether a memory file exists for this name, even if the agent does not. */
  async has(agent: string): Promise<boolean> {
    return (await readStamp(this.#file(agent).path)) !== undefined
  }

  /**
   * Applies one change and returns the entry after it, or as it was before its removal. Durable when it
   * resolves; when it throws, as applyOp() may, nothing has changed. `op` may be a function of the memory
   * before the change.
   */
  async apply(agent: string, op: Op | ((memory: Memory) => Op), signal: AbortSignal): Promise<MemoryEntry> {
    const file = this.#file(agent)
    await using _ = await this.#lock(file.path, signal)
    const before = await file.read()
    const { memory, entry } = applyOp(before, typeof op === 'function' ? op(before) : op)
    if (memory !== before) await file.write(memory)
    return entry
  }

  /** Replaces all entries in one step; see replaceEntries(). */
  async replace(agent: string, entries: readonly MemoryEntry[], signal: AbortSignal): Promise<Memory> {
    const file = this.#file(agent)
    await using _ = await this.#lock(file.path, signal)
    const memory = replaceEntries(await file.read(), entries)
    await file.write(memory)
    return memory
  }

  /** Returns the best matches, best first, at most `search.limit` of them. */
  async search(agent: string, search: MemorySearch): Promise<MemoryMatch[]> {
    const file = this.#file(agent)
    const memory = await file.read()
    if (memory.entries.length === 0) return []
    // loaded late, because most commands do not search
    const { MemoryIndex } = await import('./memory-index.ts')
    const index = this.#indexes.get(file.path) ?? new MemoryIndex()
    this.#indexes.set(file.path, index)
    return index.search(memory, search)
  }

  /** Rewrites the file as a change would. */
  async checkpoint(agent: string, signal: AbortSignal): Promise<void> {
    const file = this.#file(agent)
    await using _ = await this.#lock(file.path, signal)
    await file.write(await file.read())
  }

  /**
   * Renames an agent's memory around `act`: the new file exists before `act` runs, and the old one is removed
   * after it.
   *
   * Throws `conflict` when another memory exists under the new name, even if this agent has none: it must not
   * inherit that one. A crash leaves the memory under both names.
   */
  async rename<T>(from: string, to: string, act: () => Promise<T>, signal: AbortSignal): Promise<T> {
    // reports the invalid name
    if (nameProblem(from) !== undefined || nameProblem(to) !== undefined) return await act()
    const [source, target] = [this.#path(from), this.#path(to)]
    await using locks = new AsyncDisposableStack()
    for (const path of [...new Set([source, target])].sort()) locks.use(await this.#lock(path, signal))
    if (source === target) return await act()
    const bytes = await readIfExists(source)
    if (bytes === undefined) {
      if ((await readStamp(target)) !== undefined) throw renameConflict(from, target)
      return await act()
    }
    const isSameFile = foldName(from) === foldName(to) // on case-insensitive file systems
    const isNew = !isSameFile && (await createFile(target, bytes))
    if (!isNew && !isSameFile && !bytes.equals((await readIfExists(target)) ?? bytes))
      throw renameConflict(from, target)
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

  /** Uses the file's name, because an agent's name has several Unicode forms but only one file. */
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

async function readIfExists(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw toStorageError(`Cannot read ${path}`, reason)
  }
}

function renameConflict(agent: string, path: string): CrabError {
  return new CrabError('conflict', `Cannot rename the agent "${agent}": another memory is at ${path}`, {
    hint: 'move that file away',
  })
}
