/**
 * Every kind of failure, with its wire code (HTTP semantics), the exit code of a command that fails with it
 * (from sysexits where one fits), and whether a retry can help.
 */
export const ERROR_KINDS = {
  usage: { wire: 400, exit: 2, retryable: false },
  invalid: { wire: 400, exit: 65, retryable: false },
  'no-input': { wire: 400, exit: 66, retryable: false },
  config: { wire: 400, exit: 78, retryable: false },
  denied: { wire: 403, exit: 4, retryable: false },
  credentials: { wire: 403, exit: 77, retryable: false },
  missing: { wire: 404, exit: 1, retryable: false },
  'no-service': { wire: 404, exit: 4, retryable: false },
  conflict: { wire: 409, exit: 1, retryable: false },
  gone: { wire: 410, exit: 1, retryable: false },
  throttled: { wire: 429, exit: 75, retryable: true },
  failed: { wire: 500, exit: 1, retryable: false },
  storage: { wire: 500, exit: 1, retryable: false },
  refused: { wire: 500, exit: 3, retryable: false },
  tool: { wire: 500, exit: 5, retryable: false },
  schema: { wire: 500, exit: 6, retryable: false },
  truncated: { wire: 500, exit: 7, retryable: false },
  limit: { wire: 500, exit: 8, retryable: false },
  empty: { wire: 500, exit: 9, retryable: false },
  cancelled: { wire: 500, exit: 130, retryable: false },
  internal: { wire: 500, exit: 70, retryable: false },
  unavailable: { wire: 503, exit: 69, retryable: true },
  timeout: { wire: 504, exit: 124, retryable: true },
} as const satisfies Record<string, { wire: number; exit: number; retryable: boolean }>

/** The name of a kind of failure. */
export type ErrorKind = keyof typeof ERROR_KINDS

interface CrabErrorOptions {
  cause?: unknown
  /** The next step for the user: a sentence or a command, without a full stop. */
  hint?: string
  /** Milliseconds to wait before a retry, if the peer gave a delay. */
  retryAfterMs?: number
  /** Whether the message contains something that only the local user may read, regardless of the kind. */
  isPrivate?: true
}

/** The only error class of this program. The message reads `Cannot …: why`; the hint says what to do next. */
export class CrabError extends Error {
  override readonly name = 'CrabError'
  readonly kind: ErrorKind
  readonly hint: string | undefined
  readonly retryAfterMs: number | undefined
  readonly isPrivate: boolean

  constructor(kind: ErrorKind, message: string, options: CrabErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.hint = options.hint
    this.retryAfterMs = options.retryAfterMs
    this.isPrivate = options.isPrivate ?? false
  }
}

/**
 * Converts any thrown value to a CrabError. An abort becomes `cancelled` (or the CrabError it was aborted
 * with); anything else is a bug of ours and becomes `internal`.
 */
export function toCrabError(reason: unknown): CrabError {
  if (reason instanceof CrabError) return reason
  if (!(reason instanceof Error)) return new CrabError('internal', `Unexpected failure: ${String(reason)}`)
  if (reason.name === 'AbortError') {
    return reason.cause instanceof CrabError
      ? reason.cause
      : new CrabError('cancelled', 'Cancelled', { cause: reason })
  }
  return new CrabError('internal', `Unexpected failure: ${reason.message}`, { cause: reason })
}

/** Returns the kind that an old daemon means by a bare wire code; `internal` for an unknown code. */
export function toErrorKind(code: number): ErrorKind {
  return WIRE_KINDS.get(code) ?? 'internal'
}

/** Returns the kind of that name, or undefined when a newer peer sent a kind that this build does not know. */
export function parseErrorKind(name: string): ErrorKind | undefined {
  return Object.hasOwn(ERROR_KINDS, name) ? (name as ErrorKind) : undefined
}

const WIRE_KINDS = new Map<number, ErrorKind>([
  [400, 'invalid'],
  [403, 'denied'],
  [404, 'missing'],
  [409, 'conflict'],
  [410, 'gone'],
  [429, 'throttled'],
  [500, 'failed'],
  [503, 'unavailable'],
  [504, 'timeout'],
])
