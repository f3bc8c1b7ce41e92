/**
 * Every kind of failure, once: its wire code (HTTP semantics), the exit code of a command that meets it
 * (sysexits where one fits), and whether trying the same again can help.
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

export type ErrorKind = keyof typeof ERROR_KINDS

interface CrabErrorOptions {
  cause?: unknown
  /** What to do next: a sentence or a command, without a full stop. */
  hint?: string
  /** Milliseconds after which a retry makes sense, when the peer said so. */
  retryAfterMs?: number
  /** Whether the message names what only the user of this machine may read, whatever its kind. */
  isPrivate?: true
}

/** The one error of this program. The message reads `Cannot …: why`; the hint says what to do next. */
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

/** Any thrown value as a CrabError: an abort is `cancelled` (or the CrabError it was aborted with), the rest is our bug. */
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

/** The kind an old daemon meant by a bare wire code; codes nobody sends are `internal`. */
export function toErrorKind(code: number): ErrorKind {
  return WIRE_KINDS.get(code) ?? 'internal'
}

/** The kind of that name, or undefined when a newer peer sent one this build does not know. */
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
