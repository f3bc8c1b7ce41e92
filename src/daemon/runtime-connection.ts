import type { Lease } from '../core/lease/types.ts'
import type { Dispatch } from '../core/protocol/dispatch.ts'

/** A connection to the runtime of this home; disposing releases it. */
export interface RuntimeConnection extends AsyncDisposable {
  readonly dispatch: Dispatch
  /** The process in which turns run. */
  readonly place: 'process' | 'daemon'
  /**
   * The reason why turns run in this process although a daemon exists or should have started, unless the user
   * opted out; a sentence without a full stop.
   */
  readonly why: string | undefined
  /** The advice about `why`; undefined when it was already printed, or when config.toml decides it. */
  readonly hint?: string | undefined
  /** The address of a daemon that serves only the fixed protocol (ADR 0161). */
  readonly olderAt?: string | undefined
  /**
   * Waits for an exclusive lease among all processes of this home, such as the one for asking on a terminal.
   */
  lease(resource: string, signal: AbortSignal): Promise<Lease>
}
