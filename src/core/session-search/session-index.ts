import { join } from 'node:path'
import { abortable } from '../base/abortable.ts'
import { waitAtMost } from '../base/deadline.ts'
import { toCrabError } from '../base/errors.ts'
import { lazy } from '../base/lazy.ts'
import type { Log } from '../base/log.ts'
import { Serial } from '../base/serial.ts'
import type { Leases } from '../lease/types.ts'
import type { CheckpointLocation } from '../search/checkpoint/types.ts'
import { TERMS_VERSION } from '../search/terms/term-bytes.ts'
import { TextIndex } from '../search/text-index.ts'
import type { SessionFolder } from '../storage/session-folder.ts'
import type { SessionChange } from '../storage/types.ts'
import { openBackground } from './background/open-background.ts'
import type { IndexBackground, WorkerSource } from './background/types.ts'
import { Checkpoints } from './checkpoints.ts'
import { findMatches } from './find-matches.ts'
import { FollowedSessions } from './followed-sessions.ts'
import { SessionTable } from './session-table.ts'
import { DOCUMENT_WEIGHTS, type SessionMatches, type SessionQuery } from './types.ts'

/** The settings of a session index. */
export interface SessionIndexOptions {
  folder: SessionFolder
  /** The folder of rebuildable data; checkpoints have a folder of their own in it. */
  index: string
  leases: Leases
  /**
   * Whether the process is long-running, like the daemon: checkpoints are written while it runs, and a search
   * that would have to wait for a long read returns partial results instead.
   */
  isLongLived: boolean
  /** The program of the worker thread that reads, merges and saves. */
  worker: WorkerSource
  log: Log
  /** Whether sessions are reranked by all their messages. Default: true. */
  reranks?: boolean
  /** The number of session bytes after which a checkpoint is written. For tests. */
  worthSaving?: number
  /** The delay before that checkpoint is written, in milliseconds. For tests. */
  saveAfterMs?: number
  /** The time a search waits for the index in a long-running process, in milliseconds. For tests. */
  patienceMs?: number
}

/**
 * Searches all sessions of a home with an index in memory that follows the session files, and with
 * checkpoints of it.
 *
 * Any number of processes may have one; the holder of the lease `index` writes the checkpoints (ADR 0125).
 */
export class SessionIndex implements AsyncDisposable {
  readonly #options: Required<SessionIndexOptions>
  readonly #stopReading = new AbortController()
  readonly #closed = new AbortController()
  readonly #worker: IndexBackground
  readonly #inline: IndexBackground
  readonly #checkpoints: Checkpoints
  readonly #opened = lazy(() => this.#open())
  #followed: FollowedSessions | undefined
  /** The end of the queue of operations that must not overlap: reading, and taking a snapshot to save. */
  readonly #queue = new Serial()
  /** The queued catch-up that has not started yet. */
  #next: Promise<void> | undefined
  readonly #saves = new Serial()
  #saveTimer: NodeJS.Timeout | undefined

  constructor(options: SessionIndexOptions) {
    const { index, leases, worker, log, isLongLived } = options
    const defaults = {
      reranks: true,
      worthSaving: isLongLived ? SAVE_BYTES : SAVE_ONCE_BYTES,
      saveAfterMs: SAVE_AFTER_MS,
      patienceMs: PATIENCE_MS,
    }
    this.#options = { ...defaults, ...options }
    this.#worker = openBackground({ worker, log })
    this.#inline = openBackground({ worker: async () => undefined, log })
    const { load } = this.#inline // loading a checkpoint takes no longer than starting a worker
    const background = isLongLived ? { ...this.#worker, load } : this.#inline
    this.#checkpoints = new Checkpoints({ location: indexLocation(index), leases, background, log })
  }

  /**
   * Returns the best matching sessions, each by its best message. Messages appended by this process are found
   * immediately; those of other processes too, unless the result is partial. Aborting ends only this search,
   * not the work that others wait for.
   */
  async search(query: SessionQuery, signal: AbortSignal): Promise<SessionMatches> {
    const followed = await abortable(this.#opened.get(), signal)
    const partial = !(await this.#isUpToDate(followed, signal))
    const { folder, reranks } = this.#options
    return { matches: await findMatches({ followed, folder, reranks }, query, signal), partial }
  }

  /**
   * Starts reading and building, so that the first search does not have to wait. Failures are reported to the
   * searches.
   */
  warm(): void {
    void this.#catchUp().catch(() => undefined)
  }

  /** Applies a change made by this process. Optional: the next search finds the change in the file anyway. */
  changed(change: SessionChange): void {
    this.#followed?.changed(change)
    this.#saveSoon()
  }

  /** Resolves when everything that existed at the call is indexed. */
  async settled(signal: AbortSignal): Promise<void> {
    await abortable(this.#catchUp(), signal)
  }

  /** Stops reading, saves a checkpoint if enough was indexed, and releases all resources. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#saveTimer)
    this.#stopReading.abort()
    await this.#opened.current?.catch(() => undefined) // reported to the searches
    await this.#queue.settled()
    const { isLongLived, worthSaving } = this.#options
    await this.#save(isLongLived ? Math.min(SAVE_AT_END_BYTES, worthSaving) : worthSaving)
    this.#closed.abort()
    await this.#worker[Symbol.asyncDispose]()
    await this.#inline[Symbol.asyncDispose]()
    await this.#checkpoints[Symbol.asyncDispose]()
  }

  async #open(): Promise<FollowedSessions> {
    const { folder, log, isLongLived } = this.#options
    const textOptions = { background: this.#worker, weights: DOCUMENT_WEIGHTS }
    // before another process replaces the checkpoint to load
    if (isLongLived) await this.#checkpoints.mayWrite(this.#closed.signal)
    const saved = await this.#checkpoints.load(textOptions, this.#closed.signal)
    const { text, table } = saved ?? { text: new TextIndex(textOptions), table: new SessionTable() }
    this.#followed = new FollowedSessions({
      folder,
      text,
      table,
      worker: this.#worker,
      inline: this.#inline,
      log,
      ...(isLongLived && { worthAThread: WORTH_A_THREAD }),
    })
    return this.#followed
  }

  /** Whether the index is up to date; false when that takes longer than a search waits. */
  async #isUpToDate(followed: FollowedSessions, signal: AbortSignal): Promise<boolean> {
    const { isLongLived, patienceMs } = this.#options
    const caughtUp = this.#catchUp().then(() => true)
    const done = abortable(caughtUp, signal)
    if (!isLongLived) return await done
    done.catch(() => undefined) // once this search stops waiting, the next one reports the failure
    for (;;) {
      const isDone = await waitAtMost(done, patienceMs)
      if (isDone !== undefined) return isDone
      if (followed.isBuilding) return false
    }
  }

  /** Reads what is new; callers before the read starts share it. */
  #catchUp(): Promise<void> {
    this.#next ??= this.#queue.run(async () => {
      this.#next = undefined
      const followed = await this.#opened.get()
      await followed.catchUp(this.#stopReading.signal)
      this.#saveSoon()
    })
    return this.#next
  }

  #saveSoon(): void {
    const { isLongLived, worthSaving, saveAfterMs } = this.#options
    if (!isLongLived || this.#saveTimer || (this.#followed?.unsavedBytes ?? 0) < worthSaving) return
    this.#saveTimer = setTimeout(() => {
      this.#saveTimer = undefined
      void this.#save(worthSaving)
    }, saveAfterMs)
    this.#saveTimer.unref()
  }

  /** Saves the index after any running save, if at least `worthSaving` session bytes are unsaved. */
  async #save(worthSaving: number): Promise<void> {
    try {
      await this.#saves.run(() => this.#saveNow(worthSaving))
    } catch (reason) {
      this.#options.log('warn', `the search index was not saved: ${toCrabError(reason).message}`)
    }
  }

  async #saveNow(worthSaving: number): Promise<void> {
    const followed = this.#followed
    const { signal } = this.#closed
    if (!followed || followed.unsavedBytes < worthSaving) return
    if (!(await this.#checkpoints.mayWrite(signal))) return
    // no file is partially read then
    const snapshot = await this.#queue.run(async () => ({ parts: followed.parts() }))
    await this.#checkpoints.save(await snapshot.parts, signal)
  }
}

/** Returns the location of the session index's checkpoints below the folder of rebuildable data. */
function indexLocation(index: string): CheckpointLocation {
  return { folder: join(index, 'search'), maker: `sessions 2 terms ${TERMS_VERSION}` }
}

const MEGABYTE = 1024 * 1024
/** The number of bytes from which a process with other clients reads in a worker. */
const WORTH_A_THREAD = 32 * 1024
/** The number of session bytes that take a moment to read again. */
const SAVE_BYTES = 8 * MEGABYTE
const SAVE_AT_END_BYTES = 256 * 1024
/** The number of session bytes that a single command may index without saving. */
const SAVE_ONCE_BYTES = 4 * MEGABYTE
const SAVE_AFTER_MS = 2000
const PATIENCE_MS = 300
