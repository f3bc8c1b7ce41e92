import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** The limits of backups for undo. */
export interface UndoQuota {
  /** The largest file that is backed up. */
  fileBytes: number
  /** The most bytes of all turns of a session; the oldest turns are evicted first. */
  sessionBytes: number
  /** The most turns of a session. */
  turns: number
}

/** The default limits: 10 MiB per file, 100 MiB and 100 turns per session. */
export const UNDO_QUOTA: UndoQuota = {
  fileBytes: 10 * 1024 * 1024,
  sessionBytes: 100 * 1024 * 1024,
  turns: 100,
}

/** Lists the turns that are backed up in the folder of a session, youngest first. */
export async function listBackedUpRuns(session: string): Promise<string[]> {
  const names = await readdir(session).catch(() => []) // nothing was backed up, or it was deleted like a cache
  return names.filter((name) => RUN.test(name)).sort((a, b) => (a < b ? 1 : -1))
}

/**
 * Makes room for `bytes` more bytes of a turn; returns false when that turn alone exceeds the quota.
 *
 * It evicts whole turns, the oldest first, because undo goes back one turn at a time.
 */
export async function enforceQuota(
  turn: string,
  bytes: number,
  { sessionBytes, turns }: UndoQuota,
): Promise<boolean> {
  const [session, run] = [dirname(turn), basename(turn)]
  const own = bytes + (await measureFolder(turn))
  if (own > sessionBytes) return false
  let used = own
  let count = 1
  let isFull = false
  for (const other of await listBackedUpRuns(session)) {
    if (other === run) continue
    const folder = join(session, other)
    count++
    used += isFull ? 0 : await measureFolder(folder)
    isFull ||= used > sessionBytes || count > turns
    if (isFull) await rm(folder, { recursive: true, force: true })
  }
  return true
}

/** Matches a ULID; ULIDs sort by time. */
const RUN = /^[0-9A-HJKMNP-TV-Z]{26}$/

async function measureFolder(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []) // not created yet, or already deleted
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0, // deleted in the meantime
    ),
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
