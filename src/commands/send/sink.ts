import type { CrabError } from '../../core/base/errors.ts'
import type { StreamEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { RunRecord } from './record.ts'

/** An event of a turn in its wire form. */
export type WireTurnEvent = NonNullable<StreamEvent['event']>

/** The outcome of a run. */
export interface RunOutcome {
  exit: number
  error: CrabError | undefined
  /** The answer as JSON, when it conforms to the requested schema. */
  structured: unknown
}

/** An output form. A returned promise asks the caller to wait for a slow reader. */
export interface Sink {
  event(event: WireTurnEvent, record: RunRecord): Promise<void> | undefined
  finish(record: RunRecord, outcome: RunOutcome): Promise<void>
}
