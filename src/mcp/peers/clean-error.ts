import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { maskAnswer } from '../secrets/masked-answer.ts'
import { hideSecrets } from '../secrets/shown-target.ts'

/** What went wrong with a server, without the secrets that were given to it, by its target or by a helper. */
export function cleanError(reason: unknown, target: ServerTarget, given: readonly string[] = []): CrabError {
  const { kind, message, hint, retryAfterMs } = toCrabError(reason)
  const { text: shown } = maskAnswer({ text: hideSecrets(message, target) }, given)
  const cause = shown === message ? { cause: reason } : {} // --debug prints causes
  return new CrabError(kind, shown, {
    ...cause,
    ...(hint && { hint }),
    ...(retryAfterMs && { retryAfterMs }),
  })
}
