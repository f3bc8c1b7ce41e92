import type { BigIntStats } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'

/**
 * Whether a path lies in what is closed, or is that itself.
 *
 * Upper and lower case count as equal, and so do both ways to write an accent: on some systems they lead to one file.
 */
export async function isClosedPath(path: string, closed: readonly string[]): Promise<boolean> {
  const folded = fold(path)
  const roots = await Promise.all(closed.map(realOf))
  return roots.some((root) => folded === fold(root) || folded.startsWith(fold(join(root, sep))))
}

/** Whether a file with several names has one of them in what is closed. Opens none of these files (0065 says why). */
export async function isClosedFile(stats: BigIntStats, closed: readonly string[]): Promise<boolean> {
  if (stats.nlink < 2n) return false
  for (const root of closed) {
    for (const path of [root, ...(await filesBelow(root))]) {
      const other = await lstat(await realOf(path), { bigint: true }).catch(() => undefined) // gone meanwhile
      if (other?.ino === stats.ino && other.dev === stats.dev) return true
    }
  }
  return false
}

function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => path) // not there yet
}

async function filesBelow(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true }).catch(() => []) // a file, or not there
  return entries.map((entry) => join(root, entry))
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}
