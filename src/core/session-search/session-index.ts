import type { Log } from '../base/log.ts'
import type { Leases } from '../lease/types.ts'
import type { SessionFolder } from '../storage/session-folder.ts'
import type { SessionChange } from '../storage/types.ts'
import type { SessionMatches, SessionQuery } from './types.ts'

export interface SessionIndexOptions {
  folder: SessionFolder
  /** Folder of checkpoints. */
  index: string
  leases: Leases
  /** It lasts: it may keep the right to write checkpoints, and searches do not wait for it to be built. */
  keeps: boolean
  log: Log
}

/** The search over all sessions of a home. */
export class SessionIndex implements AsyncDisposable {
  constructor(options: SessionIndexOptions) {
    void options
  }

  /**
   * The sessions that match best, each by its best message. What this process appended is found at once, what others
   * did too.
   */
  async search(query: SessionQuery, signal: AbortSignal): Promise<SessionMatches> {
    void query
    signal.throwIfAborted()
    return { matches: [], partial: false }
  }

  /** What this process changed; nothing is lost when it is not told. */
  changed(change: SessionChange): void {
    void change
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
