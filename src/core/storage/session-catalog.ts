import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { type CatalogEntry, loadCatalog, saveCatalog } from './session-catalog-file.ts'
import { digestSession, type SessionDigest, toRows, toSummaries } from './session-digest.ts'
import type { SessionFolder } from './session-folder.ts'
import { toPairPart } from './session-id.ts'
import { readSessionParts } from './session-parts.ts'
import type { FileStamp } from './session-reader.ts'
import type { SessionRow, SessionSummary } from './types.ts'

/**
 * A catalog of the facts that listings need of all sessions, saved so that only changed files are read
 * again (ADR 0032).
 *
 * The files are authoritative: an entry is valid while its file has the size, time and inode it was read
 * with. Any number of processes may save; the last one wins, and entries it lacked are read again. When
 * saving fails, for example on a read-only disk, the catalog simply stays unsaved.
 */
export class SessionCatalog {
  readonly #folder: SessionFolder
  readonly #path: string
  #entries: Promise<Map<string, CatalogEntry>> | undefined
  #unsavedCost = 0
  /** The rows by pair prefix, then by session id. */
  #pairs: { version: number; rows: Map<string, Map<string, SessionRow>> } | undefined
  #rows: { version: number; rows: readonly SessionSummary[] } | undefined

  constructor({ folder, index }: { folder: SessionFolder; index: string }) {
    this.#folder = folder
    this.#path = join(index, 'sessions.json')
  }

  /** Returns current rows of all sessions, newest first; the same array while nothing changes. */
  async rows(): Promise<readonly SessionSummary[]> {
    const ids = await this.#folder.refresh()
    const { version } = this.#folder
    if (this.#rows?.version === version) return this.#rows.rows
    const rows = toSummaries(await this.#digests(ids, (id) => this.#folder.stamp(id)))
    this.#rows = rows.length === ids.length ? { version, rows } : undefined
    return rows
  }

  /** Returns current rows of these sessions as copies; leaves out those that do not exist. */
  async selectRows(ids: readonly string[]): Promise<SessionRow[]> {
    const all = await this.#folder.refresh()
    const { version } = this.#folder
    if (this.#pairs?.version !== version) this.#pairs = { version, rows: new Map() }
    const { rows } = this.#pairs
    const missing = new Set(ids.map(toPairPart).filter((pair) => !rows.has(pair)))
    const others = missing.size === 0 ? [] : all.filter((id) => missing.has(toPairPart(id)))
    const found = toRows(await this.#digests(others, (id) => this.#folder.stamp(id)))
    for (const pair of missing) rows.set(pair, new Map())
    for (const row of found) rows.get(toPairPart(row.summary.id))?.set(row.summary.id, row)
    const known = ids.flatMap((id) => rows.get(toPairPart(id))?.get(id) ?? [])
    return known.map(({ summary, isActive }) => ({ summary: { ...summary }, isActive }))
  }

  /** Returns current digests of these sessions; leaves out those that were deleted or are unreadable. */
  digests(ids: readonly string[]): Promise<SessionDigest[]> {
    return this.#digests(ids, (id) => this.#folder.freshStamp(id))
  }

  async #digests(ids: readonly string[], getStamp: StampOf): Promise<SessionDigest[]> {
    this.#entries ??= loadCatalog(this.#path)
    const entries = await this.#entries
    let cost = 0
    for (const id of ids) {
      cost += COST_OF_STAMP
      const stamp = getStamp(id)
      const known = entries.get(id)
      const reading = isSame(stamp, known?.stamp)
        ? []
        : this.#read(entries, id, hasGrown(stamp, known) ? known : undefined)
      for (const bytes of reading) {
        cost += bytes
        if (cost >= SLICE) cost = await breathe(0) // lets a daemon serve its streams meanwhile
      }
      if (cost >= SLICE) cost = await breathe(0)
    }
    if (this.#unsavedCost > WORTH_SAVING) await this.#save(entries)
    return ids.map((id) => entries.get(id)?.digest).filter((digest) => digest !== undefined)
  }

  /** Reads a file, from the end of its entry if it only grew; yields the cost of each part in bytes. */
  *#read(entries: Map<string, CatalogEntry>, id: string, grown: CatalogEntry | undefined): Generator<number> {
    try {
      let entry = grown
      for (const { part, stamp } of readSessionParts(this.#folder.file(id), grown?.digest.cursor)) {
        const before = part.whole ? 0 : (entry?.digest.cursor.bytes ?? 0)
        entry = { stamp, digest: digestSession(id, part, entry?.digest) }
        yield COST_OF_FILE + part.cursor.bytes - before
      }
      if (!entry) return
      entries.set(id, entry)
      this.#unsavedCost += COST_OF_FILE + entry.stamp.size - (grown?.stamp.size ?? 0)
    } catch {
      entries.delete(id) // deleted meanwhile, or unreadable: reading the session reports why
    }
  }

  async #save(entries: Map<string, CatalogEntry>): Promise<void> {
    this.#unsavedCost = 0
    try {
      const live = new Set(await this.#folder.listIds(''))
      for (const id of entries.keys()) if (!live.has(id)) entries.delete(id)
      await saveCatalog(this.#path, entries.values())
    } catch {
      // Saving only makes the next listing faster, so a failure is ignored. Writes that must succeed report
      // disk errors.
    }
  }
}

type StampOf = (id: string) => FileStamp | undefined

/** The number of bytes read before yielding to other work, which take a few milliseconds to decode. */
const SLICE = 256 * 1024
/** Looking at a file takes as long as reading this many bytes. */
const COST_OF_STAMP = 1024
/** Opening a file takes as long as reading this many bytes. */
const COST_OF_FILE = 16 * 1024
/** The number of bytes that may be read repeatedly before the catalog is saved. */
const WORTH_SAVING = 512 * 1024

function isSame(a: FileStamp | undefined, b: FileStamp | undefined): boolean {
  return a !== undefined && a.size === b?.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino
}

function hasGrown(now: FileStamp | undefined, known: CatalogEntry | undefined): boolean {
  return now !== undefined && now.ino === known?.stamp.ino && now.size > known.stamp.size
}
