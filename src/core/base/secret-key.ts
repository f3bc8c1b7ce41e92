/**
 * Whether a value under that name is meant to be secret: `password`, `api_key`, `clientSecret`, `X-Auth-Token`.
 *
 * A name that only speaks of a secret is none (`secret_name`, `token_type`, `password_policy`), nor is a count (`max_tokens`)
 * or a place in a list (`next_page_token`).
 */
export function isSecretKey(name: string): boolean {
  if (name.length > MAX_NAME) return false
  const parts = name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((part) => part !== '')
  const last = parts.at(-1) ?? ''
  const two = parts.slice(-2).join('')
  if (last === 'token' || last === 'jwt') return !parts.some((part) => NO_SECRET_TOKEN.has(part))
  return SECRET.test(last) || SECRET_PAIR.test(two)
}

const SECRET =
  /^(?:.*(?:passwords?|passwd|passphrase|apikeys?|secrets?|credentials?)|passcode|pwd|authorization|bearer|cookies?)$/
const SECRET_PAIR =
  /^(?:.*(?:api|access|secret|private|signing|encryption|master|service|account|ssh)keys?|authkey|connectionstring|authheader|authvalue)$/
/** Beside `token`: what it is a token of, when that opens nothing. */
const NO_SECRET_TOKEN = new Set(
  'page pages paging pagination next prev previous continuation continue cursor sync resume start end max min count total limit input output prompt completion delta change changes progress idempotency request client cancellation cancel lock design first last special stop pad unknown mask separator'.split(
    ' ',
  ),
)
const MAX_NAME = 128
