import { CrabError } from '../base/errors.ts'

/** The failure of a call whose signal was aborted: the CrabError it was aborted with, else `cancelled`. */
export function toCancelled(signal: AbortSignal): CrabError {
  const reason: unknown = signal.reason
  return reason instanceof CrabError ? reason : new CrabError('cancelled', 'Cancelled', { cause: reason })
}
