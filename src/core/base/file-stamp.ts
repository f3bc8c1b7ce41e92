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
