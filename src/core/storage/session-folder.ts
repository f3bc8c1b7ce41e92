import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { platform } from 'node:os'
import { basename, sep } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { isMissingFile, toStorageError } from '../base/files.ts'
import { parseSessionFile, SESSION_EXTENSION } from './session-id.ts'
import type { FileStamp } from './session-reader.ts'

export interface SessionFolderOptions {
  path: string
  /** For what stays: the system tells which files change, so that the others are not looked at each time. */
  isWatched?: boolean
  /** Milliseconds; by default the clock. */
  now?: () => number
}

/**
 * The session files: which there are, and in which state.
 *
 * What a watch may have missed is seen after FULL_LOOK_MS. Where nothing can be watched, all is looked at each time.
 */
export class SessionFolder implements Disposable {
  readonly #path: string
  readonly #now: () => number
  #isWatched: boolean
  #watcher: FSWatcher | undefined
  /** What the watch keeps true; empty without one. */
  readonly #stamps = new Map<string, FileStamp>()
  #ids: readonly string[] | undefined
  #lookedAt = 0
  #version = 0
  #names: Promise<string[]> | undefined

  constructor({ path, isWatched = false, now = Date.now }: SessionFolderOptions) {
    this.#path = path
    this.#isWatched = isWatched && platform() === 'linux' // elsewhere what happened is told too late
    this.#now = now
  }

  /**
   * The ids of the sessions that begin so. Whoever asks within one turn of the event loop shares a look at the folder,
   * which is taken behind it: of what begins a turn nothing takes longer.
   */
  async listIds(prefix: string): Promise<string[]> {
    this.#names ??= breathe().then(() => {
      this.#names = undefined
      return listFolder(this.#path)
    })
    const names = (await this.#names).filter((name) => name.startsWith(prefix))
    return names.map(parseSessionFile).filter((id) => id !== undefined)
  }

  /** The ids of all sessions; from then on stamp() answers for what was done to them before this was called. */
  async refresh(): Promise<readonly string[]> {
    this.#watch()
    if (this.#watcher) {
      await breathe()
      await breathe() // the second one comes behind a whole look at what the system has to tell
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

  /** Another one after a refresh() than after the one before, unless the watch says that nothing happened in between. */
  get version(): number {
    return this.#version
  }

  /** The state of a file as of the last refresh(); undefined when there is none, or it cannot be looked at. */
  stamp(id: string): FileStamp | undefined {
    const known = this.#stamps.get(id)
    if (known) return known
    const stamp = this.freshStamp(id)
    if (stamp && this.#watcher) this.#stamps.set(id, stamp)
    return stamp
  }

  /** The state of a file now. */
  freshStamp(id: string): FileStamp | undefined {
    try {
      const { size, mtimeMs, ino } = statSync(this.file(id)) // in a row ten times as fast as asynchronously
      return { size, mtimeMs, ino }
    } catch {
      return undefined // reading it says why
    }
  }

  /** The path of a session's file; the id is taken as it is. */
  file(id: string): string {
    return this.#path + sep + id + SESSION_EXTENSION // join() would take longer than looking at the file
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
      // No folder yet, or no more watches to be had: the next look tries again.
    }
  }

  #onChange(event: string, name: string | null): void {
    this.#version += 1
    if (name === null || name === basename(this.#path)) {
      this.#stopWatching() // the folder itself went
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

/** So long at most nobody looks at a file that a watch says nothing of. */
const FULL_LOOK_MS = 30_000

function listFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (reason) {
    if (isMissingFile(reason)) return []
    throw toStorageError(`Cannot list ${path}`, reason)
  }
}
