import { CrabError, toCrabError } from '../core/base/errors.ts'
import type { ServerTarget } from './fingerprint.ts'
import { hideSecrets } from './shown-target.ts'

/** What went wrong with a server, without the secrets that were given to it. */
export function cleanError(reason: unknown, target: ServerTarget): CrabError {
  const { kind, message, hint, retryAfterMs } = toCrabError(reason)
  const shown = hideSecrets(message, target)
  const cause = shown === message ? { cause: reason } : {} // --debug prints causes
  return new CrabError(kind, shown, {
    ...cause,
    ...(hint && { hint }),
    ...(retryAfterMs && { retryAfterMs }),
  })
}
