import {
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'
import { parseObject } from '../../core/base/json.ts'
import { hideSecretsIn } from '../../core/base/secrets/redact.ts'
import { toPrintableLine } from '../tools/server-text.ts'

/**
 * Converts what the SDK throws to a CrabError whose message says in lower case what happened, without the secrets:
 * `denied` for what a rule refuses, `credentials` for what the authorization server refuses, otherwise `failed`.
 */
export function toOAuthFailure(reason: unknown, secrets: readonly (string | undefined)[] = []): CrabError {
  const hide = (text: string) => {
    const known = secrets.filter((secret): secret is string => (secret?.length ?? 0) >= MIN_SECRET)
    return toPrintableLine(hideSecretsIn(text, known))
  }
  if (reason instanceof CrabError)
    return new CrabError(reason.kind, hide(reason.message), { cause: reason.cause })
  if (reason instanceof IssuerMismatchError)
    return new CrabError(
      'denied',
      `the answer comes from ${reason.received === undefined ? 'an issuer without a name' : hide(reason.received)} instead of ${hide(reason.expected ?? '')}`,
    )
  if (reason instanceof InsecureTokenEndpointError) return new CrabError('denied', hide(reason.message))
  if (reason instanceof RegistrationRejectedError)
    return new CrabError(
      'failed',
      `it refuses to register this program (HTTP ${reason.status}): ${hide(describeBody(reason.body))}`,
    )
  if (reason instanceof OAuthError) return toAnsweredError(reason, hide)
  if (!(reason instanceof Error)) return new CrabError('failed', hide(String(reason)))
  if (reason instanceof SyntaxError || /ZodError$/.test(reason.name))
    return new CrabError('failed', 'it sent an answer that cannot be read')
  return new CrabError('failed', hide(reason.message))
}

/** Converts an error of RFC 6749, section 5.2; one that cannot be read is a failure of the authorization server. */
function toAnsweredError({ code, message }: OAuthError, hide: (text: string) => string): CrabError {
  if (code === 'server_error' || code === 'temporarily_unavailable')
    return new CrabError(
      'unavailable',
      `it failed: ${hide(message.replace(/^(HTTP \d+): Invalid OAuth.*/s, '$1'))}`,
    )
  const words = message === code || message === '' ? '' : `: ${hide(message)}`
  return new CrabError('credentials', `it refused (${hide(code)})${words}`)
}

function describeBody(body: string): string {
  const { error, error_description: words } = parseObject(body) ?? {}
  return [error, words].filter((one) => typeof one === 'string').join(': ') || 'without a reason'
}

const MIN_SECRET = 4
