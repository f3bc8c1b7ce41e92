import { CrabError, type ErrorKind } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { CLASS_RIGHTS } from '../policy/class-rights.ts'
import type { Trust } from '../policy/types.ts'

/**
 * Returns the error that a trust class may read. A class with all notices gets the error itself. Any other
 * class gets a generic message of the same kind, without a hint, in place of errors that may name servers,
 * models and files of this machine; the error itself is logged (ADR 0168).
 */
export function shownError(error: CrabError, trust: Trust, log: Log): CrabError {
  if (CLASS_RIGHTS[trust].notices === 'all') return error
  const { kind, hint, message, retryAfterMs } = error
  const plain = PLAIN[kind] ?? (error.isPrivate ? UNUSABLE : undefined)
  if (message === plain) return error
  const more = retryAfterMs === undefined ? {} : { retryAfterMs }
  if (plain === undefined) return kind === 'missing' ? new CrabError(kind, message, more) : error
  log('warn', message, { kind, ...(hint !== undefined && { hint }) })
  return new CrabError(kind, plain, more)
}

const UNAVAILABLE = 'Cannot answer: this agent is not available now'
const UNUSABLE = 'Cannot answer: the agent cannot use this request'

/**
 * The messages for kinds whose errors may reveal details of this machine; undefined for kinds about the
 * client's own request.
 */
const PLAIN: Readonly<Record<ErrorKind, string | undefined>> = {
  usage: undefined,
  invalid: undefined,
  denied: undefined,
  missing: undefined, // its hint is dropped, because it may contain the names of others
  conflict: undefined,
  gone: undefined,
  schema: undefined,
  limit: undefined,
  cancelled: undefined,
  refused: 'Cannot answer: the model refused',
  truncated: "Cannot answer: the model's answer was cut off",
  empty: 'Cannot answer: the model returned an empty answer',
  'no-input': UNAVAILABLE,
  'no-service': UNAVAILABLE,
  config: UNAVAILABLE,
  credentials: UNAVAILABLE,
  throttled: UNAVAILABLE,
  failed: UNAVAILABLE,
  storage: UNAVAILABLE,
  tool: UNAVAILABLE,
  internal: UNAVAILABLE,
  unavailable: UNAVAILABLE,
  timeout: UNAVAILABLE,
}
