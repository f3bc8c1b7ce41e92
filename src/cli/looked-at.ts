import { readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateDir } from '../core/base/files.ts'

/**
 * Records that a conversation was seen, as the modification time of an empty file named after its session.
 * Failures are ignored: the conversation then counts as not seen.
 */
export async function markLookedAt(cache: string, session: string, now: number): Promise<void> {
  if (!isFileName(session)) return
  const folder = lookedFolder(cache)
  try {
    await makePrivateDir(folder)
    const path = join(folder, session)
    await writeFile(path, '', { flag: 'a', mode: 0o600 })
    await utimes(path, now / 1000, now / 1000)
  } catch {
    // a read-only home
  }
}

/**
 * Returns when each conversation was last seen, in milliseconds since 1970, by session. Only the latest
 * MAX_RECORDS are kept.
 */
export async function readLookedAt(cache: string): Promise<ReadonlyMap<string, number>> {
  const folder = lookedFolder(cache)
  const names = await readdir(folder).catch(() => [])
  const found = await Promise.all(
    names.map(async (name) => {
      const time = await stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      )
      return [name, time] as const
    }),
  )
  const newest = found.toSorted(([, a], [, b]) => b - a)
  for (const [name] of newest.slice(MAX_RECORDS)) {
    await rm(join(folder, name), { force: true }).catch(() => undefined) // the next reader tries again
  }
  return new Map(newest.slice(0, MAX_RECORDS))
}

const MAX_RECORDS = 500

function lookedFolder(cache: string): string {
  return join(cache, 'chat', 'looked')
}

function isFileName(session: string): boolean {
  return /^[\w-]{1,100}$/.test(session)
}
