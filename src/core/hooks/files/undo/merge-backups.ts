import { type BackupFile, readBackups } from './backup-file.ts'

/** The backups of one file by several turns of a session. */
export interface MergedBackup {
  /** The state before the first of the turns, and every version that any of them wrote. */
  file: BackupFile
  /** The folder with the content from before. */
  folder: string
}

/**
 * Merges the backups in the folders of consecutive turns, oldest first, into one for each file, in the order of
 * their paths. A file that something else changed between two of the turns counts as mixed.
 */
export async function mergeBackups(folders: readonly string[]): Promise<MergedBackup[]> {
  const merged = new Map<string, MergedBackup>()
  for (const folder of folders) {
    for (const file of await readBackups(folder)) {
      const known = merged.get(file.path)
      merged.set(file.path, known ? { ...known, file: merge(known.file, file) } : { file, folder })
    }
  }
  return [...merged.values()].sort((a, b) => (a.file.path < b.file.path ? -1 : 1))
}

function merge(first: BackupFile, next: BackupFile): BackupFile {
  const found = next.before?.version // undefined for a missing file, which has no content to lose
  const isForeign = found !== undefined && found !== first.before?.version && !first.after.includes(found)
  return {
    ...first,
    after: [...new Set([...first.after, ...next.after])],
    folders: [...first.folders, ...next.folders],
    isMixed: first.isMixed || next.isMixed || isForeign,
  }
}
