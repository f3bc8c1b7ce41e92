import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FD_LINKS } from '../../folder.ts'
import type { Lock } from '../file-call.ts'
import { readBackupContent, readBackups, removeBackup } from './backup-file.ts'
import { listBackedUpRuns } from './quota.ts'
import { type RestoredFile, restoreFiles } from './restore.ts'

/** What undo uses. */
export interface UndoTurnsOptions {
  /** Where turns are kept: a folder for each session, in it one for each turn. */
  folder: string
  /** Files and folders that are never opened (0065). */
  closed: readonly string[]
  lock: Lock
  /** As that of the file tools. */
  fdLinks?: string
}

/** The turns whose changes of files can be taken back. To be used under the turn lease of their session. */
export class UndoTurns {
  readonly #options: UndoTurnsOptions

  constructor(options: UndoTurnsOptions) {
    this.#options = options
  }

  /** The youngest turn of a session that is not taken back yet. */
  async last(session: string): Promise<string | undefined> {
    for (const run of await listBackedUpRuns(join(this.#options.folder, session))) {
      if ((await readBackups(this.#toFolder(session, run))).length > 0) return run
    }
    return undefined
  }

  /** Takes back one file after the other and says what became of each. */
  async *restore(
    { session, run, dryRun }: { session: string; run: string; dryRun: boolean },
    signal: AbortSignal,
  ): AsyncGenerator<RestoredFile> {
    const { closed, lock, fdLinks = FD_LINKS } = this.#options
    const folder = this.#toFolder(session, run)
    for (const file of await readBackups(folder)) {
      const content = () => readBackupContent(folder, file)
      yield await restoreFiles(file, { closed, fdLinks, lock, dryRun }, content, signal)
    }
  }

  /** Forgets the files for which there is nothing more to do, and the turn when no other is left. */
  async forget(
    { session, run }: { session: string; run: string },
    files: readonly RestoredFile[],
  ): Promise<void> {
    const folder = this.#toFolder(session, run)
    for (const { path, isSettled } of files) if (isSettled) await removeBackup(folder, path)
    if ((await readBackups(folder)).length > 0) return
    await rm(folder, { recursive: true, force: true })
    await rmdir(join(this.#options.folder, session)).catch(() => undefined) // it keeps other turns
  }

  #toFolder(session: string, run: string): string {
    return join(this.#options.folder, session, run)
  }
}
