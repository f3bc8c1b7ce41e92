import type { CrabError } from '../../core/base/errors.ts'
import type { StreamEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { RunRecord } from './record.ts'

export type WireTurnEvent = NonNullable<StreamEvent['event']>

/** How a run ended. */
export interface RunOutcome {
  exit: number
  error: CrabError | undefined
  /** The answer as JSON, when a schema was given and met. */
  structured: unknown
}

/** One form of output. A promise asks the caller to wait for a slow reader. */
export interface Sink {
  event(event: WireTurnEvent, record: RunRecord): Promise<void> | undefined
  finish(record: RunRecord, outcome: RunOutcome): Promise<void>
}
