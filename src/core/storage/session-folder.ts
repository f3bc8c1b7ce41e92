import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { platform } from 'node:os'
import { basename, sep } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { isMissingFile, toStorageError } from '../base/files.ts'
import { parseSessionFile, SESSION_EXTENSION } from './session-id.ts'
import type { FileStamp } from './session-reader.ts'

/** The settings of a session folder. */
export interface SessionFolderOptions {
  path: string
  /**
   * Whether to watch the folder, for long-running processes: only files that the system reports as changed
   * are checked again.
   */
  isWatched?: boolean
  /** Returns milliseconds; by default the system clock. */
  now?: () => number
}

/**
 * Lists the session files and their states.
 *
 * Changes that a watch misses are found after FULL_LOOK_MS. Without a watch, every file is checked each time.
 */
export class SessionFolder implements Disposable {
  readonly #path: string
  readonly #now: () => number
  #isWatched: boolean
  #watcher: FSWatcher | undefined
  /** The stamps that the watch keeps current; empty without a watch. */
  readonly #stamps = new Map<string, FileStamp>()
  #ids: readonly string[] | undefined
  #lookedAt = 0
  #version = 0
  #names: Promise<string[]> | undefined

  constructor({ path, isWatched = false, now = Date.now }: SessionFolderOptions) {
    this.#path = path
    this.#isWatched = isWatched && platform() === 'linux' // other systems report changes too late
    this.#now = now
  }

  /**
   * Returns the ids of the sessions with this prefix. Calls within one turn of the event loop share one
   * directory listing, which is read at the end of that turn so that it does not delay the other work of the
   * turn.
   */
  async listIds(prefix: string): Promise<string[]> {
    this.#names ??= breathe().then(() => {
      this.#names = undefined
      return listFolder(this.#path)
    })
    const names = (await this.#names).filter((name) => name.startsWith(prefix))
    return names.map(parseSessionFile).filter((id) => id !== undefined)
  }

  /** Returns the ids of all sessions. Afterwards stamp() reflects every change made before this call. */
  async refresh(): Promise<readonly string[]> {
    this.#watch()
    if (this.#watcher) {
      await breathe()
      await breathe() // a second turn guarantees that all pending watch events were processed
      if (this.#now() - this.#lookedAt >= FULL_LOOK_MS) this.#forget()
    }
    if (this.#ids) return this.#ids
    const ids = await this.listIds('')
    if (!this.#watcher) {
      this.#version += 1
      return ids
    }
    this.#lookedAt ||= this.#now()
    this.#ids = ids
    return ids
  }

  /** Changes with each refresh(), unless the watch reports that nothing happened since the one before. */
  get version(): number {
    return this.#version
  }

  /**
   * Returns the state of a file at the last refresh(); undefined when it does not exist or cannot be
   * inspected.
   */
  stamp(id: string): FileStamp | undefined {
    const known = this.#stamps.get(id)
    if (known) return known
    const stamp = this.freshStamp(id)
    if (stamp && this.#watcher) this.#stamps.set(id, stamp)
    return stamp
  }

  /** Returns the current state of a file; undefined when it does not exist or cannot be inspected. */
  freshStamp(id: string): FileStamp | undefined {
    try {
      // ten times as fast as asynchronous calls, over many files
      const { size, mtimeMs, ino } = statSync(this.file(id))
      return { size, mtimeMs, ino }
    } catch {
      return undefined // reading the file reports why
    }
  }

  /** Returns the path of a session's file without validating the id. */
  file(id: string): string {
    return this.#path + sep + id + SESSION_EXTENSION // join() would take longer than the stat call
  }

  [Symbol.dispose](): void {
    this.#isWatched = false
    this.#stopWatching()
  }

  #watch(): void {
    if (!this.#isWatched || this.#watcher) return
    try {
      this.#watcher = watch(this.#path, { persistent: false }, (event, name) => this.#onChange(event, name))
      this.#watcher.on('error', () => this.#stopWatching())
    } catch {
      // The folder does not exist yet, or the system is out of watches; the next refresh() tries again.
    }
  }

  #onChange(event: string, name: string | null): void {
    this.#version += 1
    if (name === null || name === basename(this.#path)) {
      this.#stopWatching() // the folder itself was removed or renamed
      return
    }
    if (event === 'rename') this.#ids = undefined
    const id = parseSessionFile(name)
    if (id !== undefined) this.#stamps.delete(id)
  }

  #forget(): void {
    this.#version += 1
    this.#stamps.clear()
    this.#ids = undefined
    this.#lookedAt = 0
  }

  #stopWatching(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#forget()
  }
}

/** The maximum time before a file without watch events is checked again. */
const FULL_LOOK_MS = 30_000

function listFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (reason) {
    if (isMissingFile(reason)) return []
    throw toStorageError(`Cannot list ${path}`, reason)
  }
}
