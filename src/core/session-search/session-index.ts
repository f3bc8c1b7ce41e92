import { abortable } from '../base/abortable.ts'
import { toCrabError } from '../base/errors.ts'
import { lazy } from '../base/lazy.ts'
import type { Log } from '../base/log.ts'
import type { Leases } from '../lease/types.ts'
import { TextIndex } from '../search/text-index.ts'
import type { SessionFolder } from '../storage/session-folder.ts'
import type { SessionChange } from '../storage/types.ts'
import { openBackground } from './background/open-background.ts'
import type { IndexBackground, WorkerSource } from './background/types.ts'
import { Checkpoints } from './checkpoints.ts'
import { findMatches } from './find-matches.ts'
import { FollowedSessions } from './followed-sessions.ts'
import { indexPlace } from './index-place.ts'
import { SessionTable } from './session-table.ts'
import { DOCUMENT_WEIGHTS, type SessionMatches, type SessionQuery } from './types.ts'

export interface SessionIndexOptions {
  folder: SessionFolder
  /** Folder of what can be rebuilt; checkpoints have one of their own in it. */
  index: string
  leases: Leases
  /**
   * It lasts, as a daemon does: checkpoints are written while it runs, and a search does not wait until what has to be
   * read for long is read, but says that it is partial.
   */
  lasts: boolean
  /** What reads, merges and saves beside this thread. */
  worker: WorkerSource
  log: Log
  /** Sessions are ordered by what all of their messages say, too. */
  reranks?: boolean
  /** Bytes of sessions after which a checkpoint is written. For tests. */
  worthSaving?: number
  /** How long after that a checkpoint is written, milliseconds. For tests. */
  saveAfterMs?: number
  /** How long a search waits for an index that lasts, milliseconds. For tests. */
  patienceMs?: number
}

/**
 * The search over all sessions of a home (RFC 0185): an index in memory, in step with the session files, and its
 * checkpoints.
 *
 * Any number of processes may have one; the one with the lease `index` writes checkpoints (decision 33).
 */
export class SessionIndex implements AsyncDisposable {
  readonly #options: Required<SessionIndexOptions>
  readonly #stopReading = new AbortController()
  readonly #over = new AbortController()
  readonly #worker: IndexBackground
  readonly #inline: IndexBackground
  readonly #checkpoints: Checkpoints
  readonly #opened = lazy(() => this.#open())
  #followed: FollowedSessions | undefined
  /** What was asked for last to be done one after another: reading, and the beginning of saving. */
  #last: Promise<unknown> = Promise.resolve()
  /** The catching up that has not begun yet. */
  #next: Promise<void> | undefined
  #saving: Promise<void> = Promise.resolve()
  #saveTimer: NodeJS.Timeout | undefined

  constructor(options: SessionIndexOptions) {
    const { index, leases, worker, log, lasts } = options
    const defaults = {
      reranks: true,
      worthSaving: lasts ? SAVE_BYTES : SAVE_ONCE_BYTES,
      saveAfterMs: SAVE_AFTER_MS,
      patienceMs: PATIENCE_MS,
    }
    this.#options = { ...defaults, ...options }
    this.#worker = openBackground({ worker, log })
    this.#inline = openBackground({ worker: async () => undefined, log })
    const { load } = this.#inline // a thread takes as long to start as a checkpoint takes to load
    const background = lasts ? { ...this.#worker, load } : this.#inline
    this.#checkpoints = new Checkpoints({ place: indexPlace(index), leases, background, log })
  }

  /**
   * The sessions that match best, each by its best message. What this process appended is found at once, what others
   * did too, unless the answer is partial. An abort leaves the search, and ends nothing that others wait for.
   */
  async search(query: SessionQuery, signal: AbortSignal): Promise<SessionMatches> {
    const followed = await abortable(this.#opened.get(), signal)
    const partial = !(await this.#caughtUp(followed, signal))
    const { folder, reranks } = this.#options
    return { matches: await findMatches({ followed, folder, reranks }, query, signal), partial }
  }

  /** Begins to read and build, so that the first search finds it done. Whatever goes wrong is told to who searches. */
  warm(): void {
    void this.#catchUp().catch(() => undefined)
  }

  /** What this process changed; nothing is lost when it is not told. */
  changed(change: SessionChange): void {
    this.#followed?.changed(change)
    this.#saveSoon()
  }

  /** Resolves when everything that was there when it was called is found. */
  async settled(signal: AbortSignal): Promise<void> {
    await abortable(this.#catchUp(), signal)
  }

  /** Stops reading, saves what is worth it, and gives everything back. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#saveTimer)
    this.#stopReading.abort()
    await this.#opened.current?.catch(() => undefined) // who searched is told
    await this.#last
    const { lasts, worthSaving } = this.#options
    await this.#save(lasts ? Math.min(SAVE_AT_END_BYTES, worthSaving) : worthSaving)
    this.#over.abort()
    await this.#worker[Symbol.asyncDispose]()
    await this.#inline[Symbol.asyncDispose]()
    await this.#checkpoints[Symbol.asyncDispose]()
  }

  async #open(): Promise<FollowedSessions> {
    const { folder, log, lasts } = this.#options
    const textOptions = { background: this.#worker, weights: DOCUMENT_WEIGHTS }
    if (lasts) await this.#checkpoints.mayWrite(this.#over.signal) // before others replace what is loaded
    const saved = await this.#checkpoints.load(textOptions, this.#over.signal)
    const { text, table } = saved ?? { text: new TextIndex(textOptions), table: new SessionTable() }
    this.#followed = new FollowedSessions({
      folder,
      text,
      table,
      worker: this.#worker,
      inline: this.#inline,
      log,
      ...(lasts && { worthAThread: WORTH_A_THREAD }),
    })
    return this.#followed
  }

  /** Whether everything that is there now is indexed; false when that takes longer than a search waits. */
  async #caughtUp(followed: FollowedSessions, signal: AbortSignal): Promise<boolean> {
    const { lasts, patienceMs } = this.#options
    const caughtUp = this.#catchUp().then(() => true)
    const done = abortable(caughtUp, signal)
    if (!lasts) return await done
    done.catch(() => undefined) // when nobody waits any more: whoever searches next is told
    for (;;) {
      const isDone = await orTimeout(done, patienceMs)
      if (isDone !== undefined) return isDone
      if (followed.isBuilding) return false
    }
  }

  /** Reads what is new as of now; who comes before that has begun shares it. */
  #catchUp(): Promise<void> {
    this.#next ??= this.#inTurn(async () => {
      this.#next = undefined
      const followed = await this.#opened.get()
      await followed.catchUp(this.#stopReading.signal)
      this.#saveSoon()
    })
    return this.#next
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work)
    this.#last = done.catch(() => undefined)
    return done
  }

  #saveSoon(): void {
    const { lasts, worthSaving, saveAfterMs } = this.#options
    if (!lasts || this.#saveTimer || (this.#followed?.unsavedBytes ?? 0) < worthSaving) return
    this.#saveTimer = setTimeout(() => {
      this.#saveTimer = undefined
      void this.#save(worthSaving)
    }, saveAfterMs)
    this.#saveTimer.unref()
  }

  /** Saves the index, behind a saving that goes on, when so many bytes of sessions came to it. */
  #save(worthSaving: number): Promise<void> {
    const saved = this.#saving.then(() => this.#saveNow(worthSaving))
    this.#saving = saved.catch((reason: unknown) =>
      this.#options.log('warn', `the search index was not saved: ${toCrabError(reason).message}`),
    )
    return this.#saving
  }

  async #saveNow(worthSaving: number): Promise<void> {
    const followed = this.#followed
    const { signal } = this.#over
    if (!followed || followed.unsavedBytes < worthSaving) return
    if (!(await this.#checkpoints.mayWrite(signal))) return
    const taken = await this.#inTurn(async () => ({ parts: followed.parts() })) // nothing is half read then
    await this.#checkpoints.save(await taken.parts, signal)
  }
}

/** Undefined when it takes longer. */
async function orTimeout<T>(work: Promise<T>, patienceMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const tired = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patienceMs, undefined)
  })
  try {
    return await Promise.race([work, tired])
  } finally {
    clearTimeout(timer)
  }
}

const MEGABYTE = 1024 * 1024
/** Bytes from which on a process that serves others reads beside its own thread. */
const WORTH_A_THREAD = 32 * 1024
/** Bytes of sessions that take a moment to read again. */
const SAVE_BYTES = 8 * MEGABYTE
const SAVE_AT_END_BYTES = 256 * 1024
/** What a single command may have built for nothing. */
const SAVE_ONCE_BYTES = 4 * MEGABYTE
const SAVE_AFTER_MS = 2000
const PATIENCE_MS = 300
