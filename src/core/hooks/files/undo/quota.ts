import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** How much is kept for undo. */
export interface UndoQuota {
  /** Of one file. */
  fileBytes: number
  /** Of all turns of a session; the oldest go first. */
  sessionBytes: number
  /** Of a session. */
  turns: number
}

export const UNDO_QUOTA: UndoQuota = {
  fileBytes: 10 * 1024 * 1024,
  sessionBytes: 100 * 1024 * 1024,
  turns: 100,
}

/** The turns of a session that are kept in that folder, youngest first. */
export async function listBackedUpRuns(session: string): Promise<string[]> {
  const names = await readdir(session).catch(() => []) // nothing was kept, or it is deleted as a cache may be
  return names.filter((name) => RUN.test(name)).sort((a, b) => (a < b ? 1 : -1))
}

/**
 * Makes room for so many more bytes of a turn; false when that turn alone has no room for them.
 *
 * Whole turns are dropped, none that is younger than one that stays: undo takes one after the other.
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

/** A ULID: they sort by their time. */
const RUN = /^[0-9A-HJKMNP-TV-Z]{26}$/

async function measureFolder(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []) // it is not made yet, or gone by now
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0, // gone meanwhile
    ),
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
