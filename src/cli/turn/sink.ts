import type { CrabError } from '../../core/base/errors.ts'
import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import type { RunRecord } from './record.ts'

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
