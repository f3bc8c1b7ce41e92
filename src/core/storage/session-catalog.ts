import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { type CatalogEntry, loadCatalog, saveCatalog } from './session-catalog-file.ts'
import { digestSession, type SessionDigest, toRows, toSummaries } from './session-digest.ts'
import type { SessionFolder } from './session-folder.ts'
import { toPairPart } from './session-id.ts'
import { type FileStamp, readSessionFile } from './session-reader.ts'
import type { SessionRow, SessionSummary } from './types.ts'

/**
 * What listings need of all sessions, kept so that only what changed is read again.
 *
 * The files are the truth: an entry counts while its file has the size, time and inode it was read with. Any number of
 * processes may save; the last one wins, and what it did not know is read again. Where nothing can be written,
 * nothing is.
 */
export class SessionCatalog {
  readonly #folder: SessionFolder
  readonly #path: string
  #entries: Promise<Map<string, CatalogEntry>> | undefined
  #unsavedCost = 0
  /** By what the ids of a pair begin with, then by id. */
  #pairs: { version: number; rows: Map<string, Map<string, SessionRow>> } | undefined
  #rows: { version: number; rows: readonly SessionSummary[] } | undefined

  constructor({ folder, index }: { folder: SessionFolder; index: string }) {
    this.#folder = folder
    this.#path = join(index, 'sessions.json')
  }

  /** Up-to-date rows of all sessions, newest first; the same ones as long as nothing changes. */
  async rows(): Promise<readonly SessionSummary[]> {
    const ids = await this.#folder.refresh()
    const { version } = this.#folder
    if (this.#rows?.version === version) return this.#rows.rows
    const rows = toSummaries(await this.#digests(ids, (id) => this.#folder.stamp(id)))
    this.#rows = rows.length === ids.length ? { version, rows } : undefined
    return rows
  }

  /** Up-to-date rows of these sessions, without those that are gone; copies. */
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

  /** Up-to-date digests of these sessions, without those that were deleted or cannot be read. */
  digests(ids: readonly string[]): Promise<SessionDigest[]> {
    return this.#digests(ids, (id) => this.#folder.freshStamp(id))
  }

  async #digests(ids: readonly string[], stampOf: StampOf): Promise<SessionDigest[]> {
    this.#entries ??= loadCatalog(this.#path)
    const entries = await this.#entries
    for (let start = 0; start < ids.length; start += BATCH) {
      if (start > 0) await breathe() // a daemon has streams to serve meanwhile
      await this.#refresh(entries, ids.slice(start, start + BATCH), stampOf)
    }
    if (this.#unsavedCost > WORTH_SAVING) await this.#save(entries)
    return ids.map((id) => entries.get(id)?.digest).filter((digest) => digest !== undefined)
  }

  async #refresh(
    entries: Map<string, CatalogEntry>,
    ids: readonly string[],
    stampOf: StampOf,
  ): Promise<void> {
    const reads: Promise<void>[] = []
    for (const id of ids) {
      const stamp = stampOf(id)
      const known = entries.get(id)
      if (!isSame(stamp, known?.stamp))
        reads.push(this.#read(entries, id, hasGrown(stamp, known) ? known : undefined))
    }
    await Promise.all(reads)
  }

  /** Reads a file, from where its entry ends if it only grew. */
  async #read(
    entries: Map<string, CatalogEntry>,
    id: string,
    grown: CatalogEntry | undefined,
  ): Promise<void> {
    try {
      const { part, stamp } = await readSessionFile(this.#folder.file(id), grown?.digest.cursor)
      entries.set(id, { stamp, digest: digestSession(id, part, grown?.digest) })
      this.#unsavedCost += COST_OF_FILE + stamp.size - (grown?.stamp.size ?? 0)
    } catch {
      entries.delete(id) // deleted meanwhile, or not readable: whoever reads the session is told why
    }
  }

  async #save(entries: Map<string, CatalogEntry>): Promise<void> {
    this.#unsavedCost = 0
    try {
      const live = new Set(await this.#folder.listIds(''))
      for (const id of entries.keys()) if (!live.has(id)) entries.delete(id)
      await saveCatalog(this.#path, entries.values())
    } catch {
      // A listing does not fail for what only makes the next one faster; whatever must be written reports the disk.
    }
  }
}

type StampOf = (id: string) => FileStamp | undefined

/** Files between two breaths. */
const BATCH = 256
/** Opening a file takes as long as reading this many bytes. */
const COST_OF_FILE = 16 * 1024
/** Bytes that may be read again and again before the catalogue is written. */
const WORTH_SAVING = 512 * 1024

function isSame(a: FileStamp | undefined, b: FileStamp | undefined): boolean {
  return a !== undefined && a.size === b?.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino
}

function hasGrown(now: FileStamp | undefined, known: CatalogEntry | undefined): boolean {
  return now !== undefined && now.ino === known?.stamp.ino && now.size > known.stamp.size
}
