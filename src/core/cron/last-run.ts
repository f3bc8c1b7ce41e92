import type { CrabError } from '../base/errors.ts'
import type { LastRun } from './cron-state.ts'

/** How a turn that an entry began ended well. */
export interface FiredTurn {
  run: string
  session: string
}

/** What is kept of a turn that an entry began, and that is over. Times in milliseconds since 1970. */
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

/** A failure as the state has it. */
export function toRunFailure({ kind, message, hint }: CrabError) {
  return { kind, message, ...(hint !== undefined && { hint }) }
}

function toOutcome(error: CrabError | undefined): LastRun['outcome'] {
  if (!error) return 'ok'
  return error.kind === 'cancelled' ? 'cancelled' : 'failed'
}
