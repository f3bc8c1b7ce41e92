import { readdirSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { isMissingFile, toStorageError } from '../base/files.ts'
import { type CatalogueEntry, loadCatalogue, saveCatalogue } from './catalogue-file.ts'
import { digestSession, type SessionDigest } from './session-digest.ts'
import { SESSION_EXTENSION, toFiledSession } from './session-id.ts'
import { type FileStamp, readSessionFile } from './session-reader.ts'

/**
 * What listings need of all sessions, kept so that only what changed is read again.
 *
 * The files are the truth: an entry counts while its file has the size, time and inode it was read with. Any number of
 * processes may save; the last one wins, and what it did not know is read again. Where nothing can be written,
 * nothing is.
 */
export class Catalogue {
  readonly #sessions: string
  readonly #path: string
  #entries: Promise<Map<string, CatalogueEntry>> | undefined
  #unsavedCost = 0
  #names: Promise<string[]> | undefined

  constructor({ sessions, index }: { sessions: string; index: string }) {
    this.#sessions = sessions
    this.#path = join(index, 'sessions.json')
  }

  /**
   * The ids of all sessions that begin so. Whoever asks within one turn of the event loop shares a look at the folder,
   * which is taken behind it: of what begins a turn nothing takes longer.
   */
  async ids(prefix: string): Promise<string[]> {
    this.#names ??= breathe().then(() => {
      this.#names = undefined
      return listFolder(this.#sessions)
    })
    const names = await this.#names
    const candidates = prefix === '' ? names : names.filter((name) => name.startsWith(prefix))
    return candidates.map(toFiledSession).filter((id) => id !== undefined)
  }

  /** Up-to-date digests of these sessions, without those that were deleted or cannot be read. */
  async digests(ids: readonly string[]): Promise<SessionDigest[]> {
    this.#entries ??= loadCatalogue(this.#path)
    const entries = await this.#entries
    for (let start = 0; start < ids.length; start += BATCH) {
      if (start > 0) await breathe() // a daemon has streams to serve meanwhile
      await this.#refresh(entries, ids.slice(start, start + BATCH))
    }
    if (this.#unsavedCost > WORTH_SAVING) await this.#save(entries)
    return ids.map((id) => entries.get(id)?.digest).filter((digest) => digest !== undefined)
  }

  async #refresh(entries: Map<string, CatalogueEntry>, ids: readonly string[]): Promise<void> {
    const reads: Promise<void>[] = []
    for (const id of ids) {
      const stamp = this.#stampOf(id)
      const known = entries.get(id)
      if (!isSame(stamp, known?.stamp))
        reads.push(this.#read(entries, id, hasGrown(stamp, known) ? known : undefined))
    }
    await Promise.all(reads)
  }

  /** Reads a file, from where its entry ends if it only grew. */
  async #read(
    entries: Map<string, CatalogueEntry>,
    id: string,
    grown: CatalogueEntry | undefined,
  ): Promise<void> {
    try {
      const { part, stamp } = await readSessionFile(this.#file(id), grown?.digest.cursor)
      entries.set(id, { stamp, digest: digestSession(id, part, grown?.digest) })
      this.#unsavedCost += COST_OF_FILE + stamp.size - (grown?.stamp.size ?? 0)
    } catch {
      entries.delete(id) // deleted meanwhile, or not readable: whoever reads the session is told why
    }
  }

  async #save(entries: Map<string, CatalogueEntry>): Promise<void> {
    this.#unsavedCost = 0
    try {
      const live = new Set(await this.ids(''))
      for (const id of entries.keys()) if (!live.has(id)) entries.delete(id)
      await saveCatalogue(this.#path, entries.values())
    } catch {
      // A listing does not fail for what only makes the next one faster; whatever must be written reports the disk.
    }
  }

  #file(id: string): string {
    return this.#sessions + sep + id + SESSION_EXTENSION // join() would take longer than looking at the file
  }

  #stampOf(id: string): FileStamp | undefined {
    try {
      return statSync(this.#file(id)) // in a row ten times as fast as asynchronously
    } catch {
      return undefined // reading it says why
    }
  }
}

/** Files between two breaths. */
const BATCH = 1024
/** Opening a file takes as long as reading this many bytes. */
const COST_OF_FILE = 16 * 1024
/** Bytes that may be read again and again before the catalogue is written. */
const WORTH_SAVING = 512 * 1024

function listFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (reason) {
    if (isMissingFile(reason)) return []
    throw toStorageError(`Cannot list ${path}`, reason)
  }
}

function isSame(a: FileStamp | undefined, b: FileStamp | undefined): boolean {
  return a !== undefined && a.size === b?.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino
}

function hasGrown(now: FileStamp | undefined, known: CatalogueEntry | undefined): boolean {
  return now !== undefined && now.ino === known?.stamp.ino && now.size > known.stamp.size
}
