/**
 * The certainty that a value under a name is a secret: `always`; `shaped`, when it also looks like one (`auth: "none"` does not);
 * `never`.
 */
export type SecretVerdict = 'always' | 'shaped' | 'never'

/**
 * Returns whether a value under that name may be a secret: the generous column, for what is only shown. Any whole word of
 * the name decides: `KEY_FILE` and `token_type` count, `--keyboard` and `author` do not.
 */
export function isSecretName(name: string): boolean {
  const words = splitName(name)
  return words.some((word) => ANYWHERE.test(word)) || judgeName(words, name) !== 'never'
}

/**
 * Returns how surely a value under that name is a secret: the strict column, for what is refused or left out of an index.
 * The end of the name decides.
 *
 * A name that only speaks of a secret does not count (`secret_name`, `token_type`, `password_policy`), nor does a count
 * (`max_tokens`), a place in a list (`next_page_token`) or a key that opens nothing (`sort_key`).
 */
export function secretVerdict(name: string): SecretVerdict {
  if (name.length > MAX_NAME || !mayEndHere(name, name.length)) return 'never'
  return judgeName(splitName(name), name)
}

/** Returns whether the name of a secret may end at this place of a text: a quick look, before secretVerdict() is asked. */
export function mayEndHere(text: string, at: number): boolean {
  MAY_END.lastIndex = at
  return MAY_END.test(text)
}

/** Returns whether a value is a secret by its name (strict column). Numbers, empty values and placeholders are for the caller. */
export function isNamedSecret(name: string, value: string): boolean {
  const verdict = secretVerdict(name)
  return verdict === 'always' || (verdict === 'shaped' && isShaped(value))
}

/** Returns whether a value looks like a secret: letters and digits in one word, and neither a path, an id nor a date. */
export function isShaped(value: string): boolean {
  if (value.length < MIN_SHAPED || value.length > MAX_SHAPED || /\s/.test(value)) return false
  if (/^[a-z][\w+.-]*:\/\/[^/@]+@/i.test(value)) return true
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !HARMLESS_SHAPE.test(value)
}

/** The words of a name, in lower case: `clientSecret`, `CLIENT_SECRET` and `client-secret` have the same. */
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

/** The table. First what counts wherever it stands in a name that is shown; then what counts at the end of any name. */
const ANYWHERE =
  /^(?:.*(?:token|secrets?|passwords?|passwd|passphrase|passcode|(?:api|access|private|secret)keys?|credentials?|connectionstring)|keys?|auth|authorization|pass|pwd|pw|creds?|pat|jwt|bearer|cookies?|dsn|sig|signature|sas|otp|totp)$/
const ALWAYS =
  /^(?:.*(?:passwords?|passwd|passphrase|passcodes?|apikeys?|secrets?|credentials?)|authorization|bearer|cookies?|creds)$/
const ALWAYS_PAIR =
  /(?:(?:api|access|secret|private|signing|encryption|master|service|account|ssh)keys?|authkey|connectionstring|authheader|authvalue)$/
const SHAPED =
  /^(?:(?:.*(?:db|pg|sql|user|root|admin|smtp|mail|ftp|redis))?(?:pass|pwd)|pw|pat|auth|cred|dsn)$/
const TOKEN = /^(?:(?:.*(?:access|auth|refresh|bearer|api|bot|session))?token|jwt)$/
/** Words beside `token` that say what it is a token of, when that opens nothing. */
const PLAIN_TOKEN = set(
  'page pages paging pagination next prev previous continuation continue cursor sync resume start end max min count total limit input output prompt completion delta change changes progress idempotency request client cancellation cancel lock design first last special stop pad unknown mask separator',
)
/** Words before `key` that say that it opens nothing. */
const PLAIN_KEY = set(
  'public primary foreign sort partition cache idempotency object row hash range map dict index column field json translation i18n group order unique composite natural surrogate routing message event issue project storage react search lookup registry hot arrow shortcut enter',
)
/** Words before `key` that say that it opens something; in names of environment variables any other does, too. */
const KEY_OF = set(
  'license licence stripe openai anthropic google gemini mistral groq cohere deepseek openrouter perplexity hf huggingface replicate aws azure gcp github gitlab slack discord telegram twilio sendgrid mailgun mailchimp sentry datadog algolia segment mixpanel amplitude cloudflare heroku vercel netlify supabase firebase pinecone notion linear airtable figma app deploy webhook shared hmac crypto cipher decryption session activation subscription client server root admin user auth bot pre',
)
/** The ends of all names above, so that most names cost one look. */
const MAY_END =
  /(?<=(?:token|jwt|passwords?|passwd|passphrase|passcodes?|keys?|secrets?|credentials?|authorization|bearer|cookies?|creds?|pass|pwd|pw|pat|auth|dsn|string|header|value)[^a-z\d]{0,4})/iy
/** Paths, addresses, file names, code, ids as `CRAB-12`, dates and times, UUIDs. */
const HARMLESS_SHAPE =
  /^[.~$]?[/\\]|^~|^\.\.?[/\\]|^[a-z]:[/\\]|^[a-z][\w+.-]*:|[()[\]{}<>*]|^[A-Z][A-Z\d]*-\d+$|^\d{4}-\d\d|^v?\d+(?:\.\d+)+|\.[a-z]{1,5}\d?$|\/.*\/|^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$|^(?:oauth\d?|saml\d?|basic|bearer|digest|hs\d+|rs\d+|es\d+|sha-?\d+|md5|mtls)$/i
const MIN_SHAPED = 6
const MAX_SHAPED = 4096
const MAX_NAME = 128
