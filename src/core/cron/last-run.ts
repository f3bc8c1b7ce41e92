import type { CrabError } from '../base/errors.ts'
import type { LastRun } from './cron-state.ts'

/** A turn of an entry that ended successfully. */
export interface FiredTurn {
  run: string
  session: string
}

/** Returns the record of a finished turn. Times are milliseconds since 1970. */
export function toLastRun(ended: {
  due: number
  now: number
  fired?: FiredTurn | undefined
  error?: CrabError | undefined
}): LastRun {
  const { due, now, fired, error } = ended
  return {
    ...{ due, ended: now, outcome: toOutcome(error) },
    ...fired,
    ...(error && { error: toRunFailure(error) }),
  }
}

/** Converts an error to its form in the state file. */
export function toRunFailure({ kind, message, hint }: CrabError) {
  return { kind, message, ...(hint !== undefined && { hint }) }
}

function toOutcome(error: CrabError | undefined): LastRun['outcome'] {
  if (!error) return 'ok'
  return error.kind === 'cancelled' ? 'cancelled' : 'failed'
}
