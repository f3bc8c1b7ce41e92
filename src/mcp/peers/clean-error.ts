import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { maskAnswer } from '../secrets/masked-answer.ts'
import { hideSecrets } from '../secrets/shown-target.ts'

/**
 * Converts a failure of a server to a CrabError without the secrets of its target and those a helper
 * supplied.
 */
export function cleanError(
  reason: unknown,
  target: ServerTarget,
  helperSecrets: readonly string[] = [],
): CrabError {
  const { kind, message, hint, retryAfterMs } = toCrabError(reason)
  const { text: cleanMessage } = maskAnswer({ text: hideSecrets(message, target) }, helperSecrets)
  const cause = cleanMessage === message ? { cause: reason } : {} // --debug prints causes
  return new CrabError(kind, cleanMessage, {
    ...cause,
    ...(hint && { hint }),
    ...(retryAfterMs && { retryAfterMs }),
  })
}
