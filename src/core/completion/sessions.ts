import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { HomePaths } from '../config/paths.ts'
import { type CatalogEntry, loadCatalog } from '../storage/session-catalog-file.ts'
import { digestSession, hasContent, type SessionDigest } from '../storage/session-digest.ts'
import { parseSessionFile, SESSION_EXTENSION } from '../storage/session-id.ts'
import { type FileStamp, readSessionFile } from '../storage/session-reader.ts'

/** A session as listings show it. */
export type SessionListing = SessionDigest['summary']

/** The sessions to list. */
interface RecentFilter {
  paths: Pick<HomePaths, 'sessions' | 'index'>
  isWanted(id: string): boolean
}

/**
 * Yields the sessions that have content, most recently used first, until the signal aborts. Writes nothing: a
 * session that the index does not know is read, or left out when it is too long for that.
 */
export async function* lastSessions(
  { paths, isWanted }: RecentFilter,
  signal: AbortSignal,
): AsyncGenerator<SessionListing> {
  const names = await readdir(paths.sessions).catch(() => []) // no session exists yet
  const ids = names.flatMap((name) => parseSessionFile(name) ?? []).filter(isWanted)
  if (ids.length === 0) return
  const known = await loadCatalog(join(paths.index, 'sessions.json'))
  for (const file of await listLastUsed(paths.sessions, ids, signal)) {
    if (signal.aborted) return
    const digest = await readDigest(file, known.get(file.id))
    if (digest && hasContent(digest.summary)) yield digest.summary
  }
}

interface SessionFile {
  id: string
  path: string
  stamp: FileStamp
}

/**
 * Returns the files that can be checked in time, the last used first. An id begins with its pair and ends
 * with its time of creation.
 */
async function listLastUsed(
  folder: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<SessionFile[]> {
  const youngestFirst = ids.toSorted((a, b) => (readIdTime(a) < readIdTime(b) ? 1 : -1))
  const found: SessionFile[] = []
  for (let start = 0; start < ids.length && !signal.aborted; start += BATCH_SIZE) {
    const batch = youngestFirst.slice(start, start + BATCH_SIZE).map(async (id) => {
      const path = join(folder, id + SESSION_EXTENSION)
      const stamp = await stat(path).catch(() => undefined) // deleted meanwhile
      return stamp?.isFile() ? { id, path, stamp } : []
    })
    found.push(...(await Promise.all(batch)).flat())
  }
  return found.sort((a, b) => b.stamp.mtimeMs - a.stamp.mtimeMs)
}

async function readDigest(
  { id, path, stamp }: SessionFile,
  known: CatalogEntry | undefined,
): Promise<SessionDigest | undefined> {
  const before = known?.stamp.ino === stamp.ino && known.stamp.size <= stamp.size ? known : undefined
  if (before?.stamp.size === stamp.size && before.stamp.mtimeMs === stamp.mtimeMs) return before.digest
  if (stamp.size - (before?.digest.cursor.bytes ?? 0) > MAX_READ_BYTES) return undefined
  try {
    const { part } = await readSessionFile(path, before?.digest.cursor)
    return digestSession(id, part, before?.digest)
  } catch {
    return undefined // reading the session reports the reason
  }
}

function readIdTime(id: string): string {
  return id.slice(id.indexOf('-') + 1)
}

const BATCH_SIZE = 256
const MAX_READ_BYTES = 4 * 1024 * 1024
