import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FD_LINKS } from '../folder.ts'
import type { Lock } from './file-call.ts'
import { dropKeptFile, readKeptContent, readKeptFiles } from './kept-file.ts'
import { keptRuns } from './kept-room.ts'
import { type TakenBack, takeBack } from './take-back.ts'

/** What undo uses. */
export interface KeptTurnsOptions {
  /** Where turns are kept: a folder for each session, in it one for each turn. */
  folder: string
  /** Files and folders that are never opened (0065). */
  closed: readonly string[]
  lock: Lock
  /** As that of the file tools. */
  fdLinks?: string
}

/** The turns whose changes of files can be taken back. To be used under the turn lease of their session. */
export class KeptTurns {
  readonly #options: KeptTurnsOptions

  constructor(options: KeptTurnsOptions) {
    this.#options = options
  }

  /** The youngest turn of a session that is not taken back yet. */
  async last(session: string): Promise<string | undefined> {
    for (const run of await keptRuns(join(this.#options.folder, session))) {
      if ((await readKeptFiles(this.#folderOf(session, run))).length > 0) return run
    }
    return undefined
  }

  /** Takes back one file after the other and says what became of each. */
  async *takeBack(
    { session, run, dryRun }: { session: string; run: string; dryRun: boolean },
    signal: AbortSignal,
  ): AsyncGenerator<TakenBack> {
    const { closed, lock, fdLinks = FD_LINKS } = this.#options
    const folder = this.#folderOf(session, run)
    for (const file of await readKeptFiles(folder)) {
      const content = () => readKeptContent(folder, file)
      yield await takeBack(file, { closed, fdLinks, lock, dryRun }, content, signal)
    }
  }

  /** Forgets the files for which there is nothing more to do, and the turn when no other is left. */
  async forget(
    { session, run }: { session: string; run: string },
    files: readonly TakenBack[],
  ): Promise<void> {
    const folder = this.#folderOf(session, run)
    for (const { path, isSettled } of files) if (isSettled) await dropKeptFile(folder, path)
    if ((await readKeptFiles(folder)).length > 0) return
    await rm(folder, { recursive: true, force: true })
    await rmdir(join(this.#options.folder, session)).catch(() => undefined) // it keeps other turns
  }

  #folderOf(session: string, run: string): string {
    return join(this.#options.folder, session, run)
  }
}
