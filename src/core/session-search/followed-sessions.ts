import { setImmediate as breathe } from 'node:timers/promises'
import { toCrabError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { CheckpointPart } from '../search/checkpoint/types.ts'
import type { IndexParts } from '../search/parts.ts'
import type { TextIndex } from '../search/text-index.ts'
import type { SessionFolder } from '../storage/session-folder.ts'
import type { FileStamp } from '../storage/session-reader.ts'
import type { SessionChange } from '../storage/types.ts'
import { indexFiles } from './background/index-files.ts'
import type { FileToRead, IndexBackground, ReadFile } from './background/types.ts'
import { addLine } from './live-lines.ts'
import type { IndexedSession, SessionTable } from './session-table.ts'

/** The index to keep current, and the dependencies for reading session files. */
export interface FollowedSessionsOptions {
  folder: SessionFolder
  text: TextIndex
  table: SessionTable
  /** Reads files in a worker thread. */
  worker: IndexBackground
  /** Reads files in this thread, when that takes less time than starting a worker. */
  inline: IndexBackground
  log: Log
  /**
   * The number of bytes from which files are read in a worker; by default the bytes that can be read in the
   * time it takes to start one.
   */
  worthAThread?: number
  /** Returns milliseconds; by default the system clock. */
  now?: () => number
}

/**
 * Keeps the index of messages, and the table of indexed sessions, in step with the session files.
 *
 * The files are authoritative. The table records the byte up to which each file is indexed; a file that was
 * replaced, or is shorter than that, is read again.
 */
export class FollowedSessions {
  readonly text: TextIndex
  readonly table: SessionTable
  readonly #options: FollowedSessionsOptions
  readonly #now: () => number
  /** The files that are being read, by session id. */
  readonly #reading = new Map<string, Reading>()
  /** The files that could not be read: their stamp at the time, and when that was. */
  readonly #unreadable = new Map<string, { stamp: FileStamp; at: number }>()
  /** The number of bytes indexed since the last call of parts(). */
  #unsavedBytes = 0
  #isBuilding = false
  /** The folder version at which the index was last in step with all files. */
  #version: number | undefined

  constructor(options: FollowedSessionsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.text = options.text
    this.table = options.table
  }

  /** Whether a read is running that takes more than a moment. */
  get isBuilding(): boolean {
    return this.#isBuilding
  }

  get unsavedBytes(): number {
    return this.#unsavedBytes
  }

  /**
   * Applies a change made by this process; a change that does not follow on what is indexed is left to the
   * next catchUp(). Never throws.
   */
  changed(change: SessionChange): void {
    const { id } = change
    if (this.#reading.has(id)) return
    const session = this.table.findById(id)
    if (change.change === 'deleted' && session) this.forget(session)
    if (change.change === 'appended') this.#append(session, change)
  }

  /** Indexes what was added to the session files, and removes the sessions whose files are gone. */
  async catchUp(signal: AbortSignal): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { folder } = this.#options
      const ids = await folder.refresh()
      const { version } = folder
      if (version === this.#version) return
      this.#version = version // sessions forgotten meanwhile reset it
      const behind = await this.#compare(ids)
      if (behind.length === 0) return
      this.#version = undefined
      await this.#readAll(behind, signal)
    }
  }

  /** Removes a session; the next catchUp() reads it again if its file exists. */
  forget(session: IndexedSession): void {
    this.#forgetAll([session])
  }

  /** Removes sessions, and additional `groups`, in one pass, because a removal scans the whole index. */
  #forgetAll(sessions: readonly IndexedSession[], groups: readonly number[] = []): void {
    const gone = new Set([...sessions.map(({ group }) => group), ...groups])
    if (gone.size === 0) return
    this.#version = undefined
    for (const session of sessions) this.table.remove(session)
    this.text.removeGroups(gone)
  }

  /**
   * Returns a snapshot of index and table at the moment of the call. Must not be called while catchUp() runs.
   */
  async parts(): Promise<IndexParts & { table: CheckpointPart }> {
    this.#unsavedBytes = 0
    const table = this.table.toPart()
    return { table, ...(await this.text.sealNow()) }
  }

  #append(session: IndexedSession | undefined, change: SessionChange & { change: 'appended' }): void {
    const { id, header, at, end } = change
    if (end.bytes - at.bytes > MAX_INLINE_BYTES) return
    const known = session ?? (header && this.table.put({ ...newSession(id, this.table), header, cursor: at }))
    if (known?.cursor.bytes !== at.bytes) return
    try {
      let offset = at.bytes
      for (const [index, line] of change.lines.entries()) {
        addLine(this.text, { group: known.group, offset }, line)
        offset += Buffer.byteLength(change.texts[index] ?? '')
      }
      this.#advance(known, end)
    } catch (reason) {
      this.#options.log('error', `a message is read again for the search: ${toCrabError(reason).message}`, {
        id,
      })
      this.forget(known)
    }
  }

  /** Returns the sessions that have to be read, the most recently modified first. */
  async #compare(ids: readonly string[]): Promise<Reading[]> {
    this.#forgetAllBut(ids) // before documents are added to any of them
    const behind: Reading[] = []
    for (const [at, id] of ids.entries()) {
      if (at % BATCH === BATCH - 1) await breathe() // reading file stamps takes time
      const stamp = this.#options.folder.stamp(id)
      const session = this.table.findById(id)
      if (!stamp || isSame(stamp, session ? session.stamp : this.#unreadableStamp(id))) continue
      if (session && isIndexed(session, stamp)) session.stamp = stamp
      else behind.push({ id, stamp, session })
    }
    return behind.toSorted((a, b) => b.stamp.mtimeMs - a.stamp.mtimeMs)
  }

  /** Returns undefined when it is time to retry: the cause of the failure need not have been in the file. */
  #unreadableStamp(id: string): FileStamp | undefined {
    const known = this.#unreadable.get(id)
    return known && this.#now() - known.at < RETRY_MS ? known.stamp : undefined
  }

  #forgetAllBut(ids: readonly string[]): void {
    const known = ids.filter((id) => this.table.findById(id)).length
    if (known === this.table.size) return
    const present = new Set(ids)
    this.#forgetAll([...this.table.all()].filter(({ id }) => !present.has(id)))
  }

  async #readAll(behind: readonly Reading[], signal: AbortSignal): Promise<void> {
    const { folder, worker, inline, worthAThread = WORTH_A_THREAD } = this.#options
    const byGroup = new Map<number, Reading>()
    let bytes = 0
    this.#forgetAll(
      behind.flatMap(({ session, stamp }) => (session && !hasGrown(session, stamp) ? session : [])),
    )
    const files = behind.map((reading): FileToRead => {
      const { id, stamp, session } = reading
      const isGrown = session !== undefined && hasGrown(session, stamp)
      const group = isGrown ? session.group : this.table.newGroup()
      bytes += stamp.size - (isGrown ? session.cursor.bytes : 0)
      byGroup.set(group, reading)
      this.#reading.set(id, reading)
      return { group, path: folder.file(id), ...(isGrown && { since: session.cursor }) }
    })
    const onFile = (file: ReadFile) => {
      const reading = byGroup.get(file.group)
      byGroup.delete(file.group)
      if (reading) this.#recordResult(reading, file)
    }
    try {
      this.#isBuilding = bytes >= worthAThread
      const background = this.#isBuilding ? worker : inline
      await indexFiles({ background, index: this.text, files, onFile }, signal)
    } finally {
      this.#discard(byGroup)
      this.#reading.clear()
      this.#isBuilding = false
    }
  }

  /** Records the outcome of reading a file. */
  #recordResult(reading: Reading, file: ReadFile): void {
    const { id, stamp } = reading
    this.#reading.delete(id)
    const { group, header, cursor, problem } = file
    if (file.changed || !header) this.#discard([[group, reading]])
    if (file.changed) return
    if (!header) {
      this.#unreadable.set(id, { stamp, at: this.#now() })
      if (problem !== undefined) this.#options.log('warn', `a session is not searched: ${problem}`, { id })
      return
    }
    const known = this.table.findById(id)
    const session = known ?? this.table.put({ id, group, header, cursor: START, stamp: undefined })
    session.stamp = file.stamp ?? stamp
    this.#advance(session, cursor)
  }

  /** Discards partially read files, because there is no known position to continue from. */
  #discard(readings: Iterable<readonly [group: number, Reading]>): void {
    const all = [...readings]
    const sessions = all.flatMap(([, { id }]) => this.table.findById(id) ?? [])
    this.#forgetAll(
      sessions,
      all.map(([group]) => group),
    )
  }

  #advance(session: IndexedSession, cursor: IndexedSession['cursor']): void {
    this.#unsavedBytes += Math.max(0, cursor.bytes - session.cursor.bytes)
    session.cursor = cursor
  }
}

/** A file that is being read, and its state before. */
interface Reading {
  id: string
  stamp: FileStamp
  session: IndexedSession | undefined
}

const START = { bytes: 0, seq: 0 }
/** The number of bytes that can be read here in the time it takes to start a worker. */
const WORTH_A_THREAD = 512 * 1024
/** Longer messages would block this process for tens of milliseconds; they are left to `catchUp()`. */
const MAX_INLINE_BYTES = 32 * 1024
/** The time before an unreadable, unchanged file is tried again. */
const RETRY_MS = 30_000
/** The number of files checked before yielding to other work. */
const BATCH = 256
/** The maximum number of passes of one catchUp(), because files may grow while they are read. */
const MAX_TRIES = 3

function newSession(id: string, table: SessionTable): Pick<IndexedSession, 'id' | 'group' | 'stamp'> {
  return { id, group: table.newGroup(), stamp: undefined }
}

/** Whether the change of a file is indexed already. A file of the same size was overwritten, so it is not. */
function isIndexed(session: IndexedSession, stamp: FileStamp): boolean {
  const { stamp: last, cursor } = session
  return isSameFile(session, stamp) && stamp.size === cursor.bytes && stamp.size !== last?.size
}

function hasGrown(session: IndexedSession, stamp: FileStamp): boolean {
  return isSameFile(session, stamp) && stamp.size > session.cursor.bytes
}

function isSameFile({ stamp: last }: IndexedSession, { ino }: FileStamp): boolean {
  return last === undefined || last.ino === ino
}

function isSame(a: FileStamp, b: FileStamp | undefined): boolean {
  return a.size === b?.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino
}
