import { CrabError, ERROR_KINDS, parseErrorKind, toErrorKind } from '../base/errors.ts'
import type { Detail, ErrorMsg, StreamEnd } from './crabtalk.generated.ts'

/** Converts an error to the last reply to a request. */
export function toErrorMsg(error: CrabError): ErrorMsg {
  return { code: ERROR_KINDS[error.kind].wire, message: error.message, detail: toDetail(error) }
}

/**
 * Returns the machine-readable part of an error, and the reason why the turn ended, if one did. Without an
 * error, only the latter is set.
 */
export function toDetail(error: CrabError | undefined, stopReason = ''): Detail {
  const retryAfterMs = error?.retryAfterMs
  return {
    kind: error?.kind ?? '',
    hint: error?.hint ?? '',
    retryable: error !== undefined && ERROR_KINDS[error.kind].retryable,
    retryAfterMs: retryAfterMs === undefined ? undefined : Math.max(0, Math.round(retryAfterMs)),
    stopReason,
  }
}

/**
 * Returns the error a peer reported. An error without a detail, or of an unknown kind, gets the kind of its
 * wire code.
 */
export function fromErrorMsg({ code, message, detail }: ErrorMsg): CrabError {
  return toError(message, detail, code)
}

/** Returns the failure a turn ended with; undefined when it succeeded. */
export function fromStreamEnd({ error, detail }: StreamEnd): CrabError | undefined {
  if (error === '' && !detail?.kind) return undefined
  return toError(error, detail, ERROR_KINDS.failed.wire)
}

function toError(message: string, detail: Detail | undefined, code: number): CrabError {
  const kind = parseErrorKind(detail?.kind ?? '') ?? toErrorKind(code)
  return new CrabError(kind, message, {
    ...(detail?.hint && { hint: detail.hint }),
    ...(detail?.retryAfterMs !== undefined && { retryAfterMs: detail.retryAfterMs }),
  })
}
