import { stat } from 'node:fs/promises'
import { isMissingFile } from './files.ts'

/** What tells one content of a path from another where every write makes a new file; undefined for no file. */
export async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true })
    return `${ino} ${size} ${mtimeNs}`
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw reason
  }
}

/**
 * Whether a file was written so short a time before `now` that another content, written since, may have the same stamp:
 * file systems count time in steps, and give the number of a file that is gone to the next one.
 */
export function isYoung(stamp: string, now: number): boolean {
  const writtenAt = Number(stamp.slice(stamp.lastIndexOf(' ') + 1)) / 1e6
  return now - writtenAt < STEP_MS
}

/** Longer than a step of the clock of any usual file system. */
const STEP_MS = 20
