import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

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

/**
 * Whether an argument `token` is a place in a list, by what its tool calls or describes it. No other name of a secret is
 * explained away like that: the words are the server's.
 */
export function isPlaceInList(name: string, schema: JsonObject | undefined): boolean {
  if (name.toLowerCase() !== 'token') return false
  const properties = schema?.['properties']
  const declared = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (!isObject(declared)) return false
  const words = [declared['title'], declared['description']]
    .filter((word) => typeof word === 'string')
    .join(' ')
  return (
    /\b(?:pag(?:e|es|ing|ination)|cursor|continuation|continue|next|resume|sync)\b/i.test(words) &&
    !ABOUT_ACCESS.test(words)
  )
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
const ABOUT_ACCESS = /\b(?:auth\w*|api|access|bearer|secret|credential|login|password)\b/i
const MAX_NAME = 128
