import { CrabError, ERROR_KINDS, parseErrorKind, toErrorKind } from '../base/errors.ts'
import type { Detail, ErrorMsg, StreamEnd } from './crabtalk.generated.ts'

/** An error as the last reply to a request. */
export function toErrorMsg(error: CrabError): ErrorMsg {
  return { code: ERROR_KINDS[error.kind].wire, message: error.message, detail: toDetail(error) }
}

/** What programs need of an error, and why the turn ended if one did; without an error only the latter. */
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

/** The error a peer reported. One without a detail, or of a kind we do not know, has the kind of its wire code. */
export function fromErrorMsg({ code, message, detail }: ErrorMsg): CrabError {
  return toError(message, detail, code)
}

/** The failure a turn ended with, or undefined when it was none. */
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
