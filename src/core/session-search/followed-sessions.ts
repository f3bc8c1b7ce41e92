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

export interface FollowedSessionsOptions {
  folder: SessionFolder
  text: TextIndex
  table: SessionTable
  /** Reads beside this thread. */
  worker: IndexBackground
  /** Reads in this thread, for what is less than what a thread takes to start. */
  inline: IndexBackground
  log: Log
  /** Bytes from which on files are read beside this thread; by default what a thread takes to start. */
  worthAThread?: number
  /** Milliseconds; by default the clock. */
  now?: () => number
}

/**
 * The index of the messages and the table of what is in it, in step with the session files.
 *
 * The files are the truth: the table says up to which byte each is indexed, and a file that is not the one it was, or
 * ends before that, is read again.
 */
export class FollowedSessions {
  readonly text: TextIndex
  readonly table: SessionTable
  readonly #options: FollowedSessionsOptions
  readonly #now: () => number
  /** What is read now, by id. */
  readonly #reading = new Map<string, Reading>()
  /** Files that could not be read, as they were then, and when that was. */
  readonly #unreadable = new Map<string, { stamp: FileStamp; at: number }>()
  /** Bytes that were indexed since parts() was called last. */
  #unsavedBytes = 0
  #isBuilding = false
  /** Of the folder when nothing was behind it. */
  #version: number | undefined

  constructor(options: FollowedSessionsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.text = options.text
    this.table = options.table
  }

  /** More is being read than takes a moment. */
  get isBuilding(): boolean {
    return this.#isBuilding
  }

  get unsavedBytes(): number {
    return this.#unsavedBytes
  }

  /** Takes up what this process did; what does not fit what is indexed is read by the next catchUp(). Never throws. */
  changed(change: SessionChange): void {
    const { id } = change
    if (this.#reading.has(id)) return
    const session = this.table.findById(id)
    if (change.change === 'deleted' && session) this.forget(session)
    if (change.change === 'appended') this.#append(session, change)
  }

  /** Indexes what the session files have more than the index, and takes out those that are gone. */
  async catchUp(signal: AbortSignal): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { folder } = this.#options
      const ids = await folder.refresh()
      const { version } = folder
      if (version === this.#version) return
      this.#version = version // what is forgotten meanwhile takes it back
      const behind = await this.#compare(ids)
      if (behind.length === 0) return
      this.#version = undefined
      await this.#readAll(behind, signal)
    }
  }

  /** Takes a session out; the next catchUp() reads it again if it is there. */
  forget(session: IndexedSession): void {
    this.#forgetAll([session])
  }

  /** All at once: a removal looks through the whole index. `groups` are more of what is taken out of it. */
  #forgetAll(sessions: readonly IndexedSession[], groups: readonly number[] = []): void {
    const gone = new Set([...sessions.map(({ group }) => group), ...groups])
    if (gone.size === 0) return
    this.#version = undefined
    for (const session of sessions) this.table.remove(session)
    this.text.removeGroups(gone)
  }

  /** Everything as it is at the moment of the call, which must not be while catchUp() runs. */
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

  /** The sessions that are to be read, the latest first. */
  async #compare(ids: readonly string[]): Promise<Reading[]> {
    this.#forgetAllBut(ids) // before anything can come to them
    const behind: Reading[] = []
    for (const [at, id] of ids.entries()) {
      if (at % BATCH === BATCH - 1) await breathe() // looking at files takes its time
      const stamp = this.#options.folder.stamp(id)
      const session = this.table.findById(id)
      if (!stamp || isSame(stamp, session ? session.stamp : this.#unreadableStamp(id))) continue
      if (session && isWhole(session, stamp)) session.stamp = stamp
      else behind.push({ id, stamp, session })
    }
    return behind.toSorted((a, b) => b.stamp.mtimeMs - a.stamp.mtimeMs)
  }

  /** Undefined when it is time to try again: what was in the way need not have been the file. */
  #unreadableStamp(id: string): FileStamp | undefined {
    const known = this.#unreadable.get(id)
    return known && this.#now() - known.at < RETRY_MS ? known.stamp : undefined
  }

  #forgetAllBut(ids: readonly string[]): void {
    const known = ids.filter((id) => this.table.findById(id)).length
    if (known === this.table.size) return
    const kept = new Set(ids)
    this.#forgetAll([...this.table.all()].filter(({ id }) => !kept.has(id)))
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
      if (reading) this.#take(reading, file)
    }
    try {
      this.#isBuilding = bytes >= worthAThread
      const background = this.#isBuilding ? worker : inline
      await indexFiles({ background, index: this.text, files, onFile }, signal)
    } finally {
      this.#drop(byGroup)
      this.#reading.clear()
      this.#isBuilding = false
    }
  }

  /** What came of reading a file. */
  #take(reading: Reading, file: ReadFile): void {
    const { id, stamp } = reading
    this.#reading.delete(id)
    const { group, header, cursor, problem } = file
    if (file.changed || !header) this.#drop([[group, reading]])
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

  /** Of a part of a file nobody can say where to go on. */
  #drop(readings: Iterable<readonly [group: number, Reading]>): void {
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

/** A file that is read, as it was before. */
interface Reading {
  id: string
  stamp: FileStamp
  session: IndexedSession | undefined
}

const START = { bytes: 0, seq: 0 }
/** A thread takes as long to start as it takes to read this here. */
const WORTH_A_THREAD = 512 * 1024
/** Longer messages would stop everything else in this process for tens of milliseconds: `catchUp()` reads them. */
const MAX_INLINE_BYTES = 32 * 1024
/** So long a file that could not be read, and has not changed since, is let be. */
const RETRY_MS = 30_000
/** Files that are looked at in one go. */
const BATCH = 256
/** What grows while it is read is read again, but not for ever. */
const MAX_TRIES = 3

function newSession(id: string, table: SessionTable): Pick<IndexedSession, 'id' | 'group' | 'stamp'> {
  return { id, group: table.newGroup(), stamp: undefined }
}

/** Whether what made it another state is indexed already; one of the same size was written over. */
function isWhole(session: IndexedSession, stamp: FileStamp): boolean {
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
