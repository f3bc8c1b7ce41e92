/**
 * The certainty that a value with a given name is a secret: `always`; `shaped`, when it must also look like
 * one (`auth: "none"` does not); `never`.
 */
export type SecretVerdict = 'always' | 'shaped' | 'never'

/**
 * Whether a value with that name may be a secret. This is the generous rule, for values that are displayed:
 * output, views of MCP entries, traces. Any whole word of the name counts: `KEY_FILE` and `token_type` match,
 * `--keyboard` and `author` do not. Every name that the strict rule knows is included.
 *
 * | names | strict | generous |
 * |---|---|---|
 * | `password`, `client_secret`, `passcode` | always | yes |
 * | `DB_PASS`, `GITHUB_PAT`, `STRIPE_KEY`, `SENTRY_DSN`, `auth` | if shaped like a secret | yes |
 * | `token_type`, `secret_name`, `password_policy`: about a secret | never | yes |
 * | `next_page_token`, `sort_key`, `public_key`: grants no access | never | yes |
 * | `key`, `sig`, `otp`: too short to be certain of | never | yes |
 * | `max_tokens`, `author`, `keyboard` | never | no |
 */
export function isSecretName(name: string): boolean {
  const words = splitName(name)
  return words.some((word) => ANYWHERE.test(word)) || judgeName(words, name) !== 'never'
}

/**
 * Returns how certainly a value with that name is a secret. This is the strict rule, for values that are
 * refused or left out of an index: the arguments of tool calls, the search index and its excerpts. The last
 * word of the name decides.
 *
 * A name that merely refers to a secret does not count (`secret_name`, `token_type`, `password_policy`).
 * Neither does a count (`max_tokens`), a position in a list (`next_page_token`) or a key that grants no
 * access (`sort_key`).
 */
export function secretVerdict(name: string): SecretVerdict {
  if (name.length > MAX_NAME || !mayEndHere(name, name.length)) return 'never'
  return judgeName(splitName(name), name)
}

/**
 * Whether the name of a secret may end at this index of a text. This is a cheap test to run before
 * secretVerdict().
 */
export function mayEndHere(text: string, at: number): boolean {
  MAY_END.lastIndex = at
  return MAY_END.test(text)
}

/**
 * Whether a value is a secret by its name (strict rule). The caller handles numbers, empty values and
 * placeholders.
 */
export function isNamedSecret(name: string, value: string): boolean {
  const verdict = secretVerdict(name)
  return verdict === 'always' || (verdict === 'shaped' && isShaped(value))
}

/** Whether a value looks like a secret: letters and digits in one word that is not a path, an id or a date. */
export function isShaped(value: string): boolean {
  if (value.length < MIN_SHAPED || value.length > MAX_SHAPED || /\s/.test(value)) return false
  if (/^[a-z][\w+.-]*:\/\/[^/@]+@/i.test(value)) return true
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !HARMLESS_SHAPE.test(value)
}

/**
 * Splits a name into lower-case words. `clientSecret`, `CLIENT_SECRET` and `client-secret` give the same
 * words.
 */
function splitName(name: string): string[] {
  return name
    .slice(0, MAX_NAME)
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
}

function judgeName(words: readonly string[], name: string): SecretVerdict {
  const last = words.at(-1) ?? ''
  const before = words.at(-2) ?? ''
  if (TOKEN.test(last)) return words.some((word) => PLAIN_TOKEN.has(word)) ? 'never' : 'always'
  if (ALWAYS.test(last) || ALWAYS_PAIR.test(before + last)) return 'always'
  if (SHAPED.test(last)) return 'shaped'
  if (!/^keys?$/.test(last) || PLAIN_KEY.has(before)) return 'never'
  return KEY_OF.has(before) || /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/.test(name) ? 'shaped' : 'never'
}

const set = (words: string) => new Set(words.split(' '))

/** Words that count anywhere in a displayed name. The patterns below apply to the end of any name. */
const ANYWHERE =
  /^(?:.*(?:token|secrets?|passwords?|passwd|passphrase|passcode|(?:api|access|private|secret)keys?|credentials?|connectionstring)|keys?|auth|authorization|pass|pwd|pw|creds?|pat|jwt|bearer|cookies?|dsn|sig|signature|sas|otp|totp)$/
const ALWAYS =
  /^(?:.*(?:passwords?|passwd|passphrase|passcodes?|apikeys?|secrets?|credentials?)|authorization|bearer|cookies?|creds)$/
const ALWAYS_PAIR =
  /(?:(?:api|access|secret|private|signing|encryption|master|service|account|ssh)keys?|authkey|connectionstring|authheader|authvalue)$/
const SHAPED =
  /^(?:(?:.*(?:db|pg|sql|user|root|admin|smtp|mail|ftp|redis))?(?:pass|pwd)|pw|pat|auth|cred|dsn)$/
const TOKEN = /^(?:(?:.*(?:access|auth|refresh|bearer|api|bot|session))?token|jwt)$/
/** Words beside `token` for tokens that grant no access. */
const PLAIN_TOKEN = set(
  'page pages paging pagination next prev previous continuation continue cursor sync resume start end max min count total limit input output prompt completion delta change changes progress idempotency request client cancellation cancel lock design first last special stop pad unknown mask separator',
)
/** Words before `key` for keys that grant no access. */
const PLAIN_KEY = set(
  'public primary foreign sort partition cache idempotency object row hash range map dict index column field json translation i18n group order unique composite natural surrogate routing message event issue project storage react search lookup registry hot arrow shortcut enter',
)
/**
 * Words before `key` for keys that grant access. In names of environment variables every other word counts as
 * well.
 */
const KEY_OF = set(
  'license licence stripe openai anthropic google gemini mistral groq cohere deepseek openrouter perplexity hf huggingface replicate aws azure gcp github gitlab slack discord telegram twilio sendgrid mailgun mailchimp sentry datadog algolia segment mixpanel amplitude cloudflare heroku vercel netlify supabase firebase pinecone notion linear airtable figma app deploy webhook shared hmac crypto cipher decryption session activation subscription client server root admin user auth bot pre',
)
/** The endings of all names above, so that most names need one test only. */
const MAY_END =
  /(?<=(?:token|jwt|passwords?|passwd|passphrase|passcodes?|keys?|secrets?|credentials?|authorization|bearer|cookies?|creds?|pass|pwd|pw|pat|auth|dsn|string|header|value)[^a-z\d]{0,4})/iy
/** Paths, URLs, file names, code, ids such as `CRAB-12`, dates and times, UUIDs. */
const HARMLESS_SHAPE =
  /^[.~$]?[/\\]|^~|^\.\.?[/\\]|^[a-z]:[/\\]|^[a-z][\w+.-]*:|[()[\]{}<>*]|^[A-Z][A-Z\d]*-\d+$|^\d{4}-\d\d|^v?\d+(?:\.\d+)+|\.[a-z]{1,5}\d?$|\/.*\/|^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$|^(?:oauth\d?|saml\d?|basic|bearer|digest|hs\d+|rs\d+|es\d+|sha-?\d+|md5|mtls)$/i
const MIN_SHAPED = 6
const MAX_SHAPED = 4096
const MAX_NAME = 128
