import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FD_LINKS } from '../../folder.ts'
import type { Lock } from '../file-call.ts'
import { readBackupContent, readBackups, removeBackup } from './backup-file.ts'
import { type ChangedFile, compareWithBackup } from './changes.ts'
import { type MergedBackup, mergeBackups } from './merge-backups.ts'
import { listBackedUpRuns } from './quota.ts'
import { type RestoredFile, restoreFiles } from './restore.ts'

/** The dependencies of undo. */
export interface UndoTurnsOptions {
  /** The folder of the backups: a subfolder for each session, and in it one for each turn. */
  folder: string
  /** Files, and folders with everything below them, that are never opened (ADR 0065). */
  closed: readonly string[]
  lock: Lock
  /** See FileHookOptions.fdLinks. */
  fdLinks?: string
}

/**
 * The turns whose changes of files can be undone (ADR 0102). Callers must hold the turn lease of the session.
 */
export class UndoTurns {
  readonly #options: UndoTurnsOptions

  constructor(options: UndoTurnsOptions) {
    this.#options = options
  }

  /** Returns the latest turn of a session that is not undone yet. */
  async last(session: string): Promise<string | undefined> {
    for (const run of await listBackedUpRuns(join(this.#options.folder, session))) {
      if ((await readBackups(this.#toFolder(session, run))).length > 0) return run
    }
    return undefined
  }

  /** Restores one file after the other, and yields the result of each. */
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

  /** Returns the ids of the turns with backups, oldest first. */
  async runs(session: string): Promise<string[]> {
    return (await listBackedUpRuns(join(this.#options.folder, session))).toReversed()
  }

  /** Returns the paths of the files that these turns changed, without duplicates. */
  async paths(session: string, runs: readonly string[]): Promise<string[]> {
    return (await this.#merge(session, runs)).map(({ file }) => file.path)
  }

  /** Restores what each file held before the first of these turns, and yields the result of each. */
  async *restoreRuns(
    { session, runs, dryRun }: { session: string; runs: readonly string[]; dryRun: boolean },
    signal: AbortSignal,
  ): AsyncGenerator<RestoredFile> {
    const { closed, lock, fdLinks = FD_LINKS } = this.#options
    for (const { file, folder } of await this.#merge(session, runs)) {
      const content = () => readBackupContent(folder, file)
      yield await restoreFiles(file, { closed, fdLinks, lock, dryRun }, content, signal)
    }
  }

  /** Compares every file that a session changed with what it was before, and yields the result of each. */
  async *changes(session: string, signal: AbortSignal): AsyncGenerator<ChangedFile> {
    const { closed, fdLinks = FD_LINKS } = this.#options
    for (const backup of await this.#merge(session, await this.runs(session))) {
      yield await compareWithBackup(backup, { closed, fdLinks }, signal)
    }
  }

  #merge(session: string, runs: readonly string[]): Promise<MergedBackup[]> {
    return mergeBackups(runs.map((run) => this.#toFolder(session, run)))
  }

  /** Deletes the backups of settled files, and the turn's folder when no other file is left. */
  async forget(
    { session, run }: { session: string; run: string },
    files: readonly RestoredFile[],
  ): Promise<void> {
    const folder = this.#toFolder(session, run)
    for (const { path, isSettled } of files) if (isSettled) await removeBackup(folder, path)
    if ((await readBackups(folder)).length > 0) return
    await rm(folder, { recursive: true, force: true })
    await rmdir(join(this.#options.folder, session)).catch(() => undefined) // it contains other turns
  }

  #toFolder(session: string, run: string): string {
    return join(this.#options.folder, session, run)
  }
}
