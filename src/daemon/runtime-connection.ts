import type { Lease } from '../core/lease/types.ts'
import type { Dispatch } from '../core/protocol/dispatch.ts'

/** A way to the runtime of this home directory; disposing lets go of it. */
export interface RuntimeConnection extends AsyncDisposable {
  readonly dispatch: Dispatch
  /** Where turns run. */
  readonly place: 'process' | 'daemon'
  /** Why it is this process, where a daemon is there or was to be started and nobody said no; a sentence without a full stop. */
  readonly why: string | undefined
  /** The address of a daemon that serves the fixed protocol only (docs/decisions/0161). */
  readonly olderAt?: string | undefined
  /** Waits for an exclusive right among all processes of this home, such as that to ask on a terminal. */
  lease(resource: string, signal: AbortSignal): Promise<Lease>
}
