/**
 * Whether a text contains something shaped like a credential: a token of a known service, a JSON web token, a
 * private key, a value after `Bearer`, or a URL with a password.
 *
 * Hashes, UUIDs and base64 files have none of these shapes. The time is linear in the length of the text.
 * Pass a long text in chunks that overlap by CREDENTIAL_HEAD.
 */
export function hasCredential(text: string): boolean {
  if (text.length < MIN_LENGTH) return false
  return TOKEN.test(text) || KEY_BLOCK.test(text) || hasAuthorization(text) || hasPasswordAddress(text)
}

/**
 * Returns the start and end of each credential that `hasCredential` recognizes. The spans are unordered and
 * may overlap.
 */
export function findCredentials(text: string): [number, number][] {
  if (!hasCredential(text)) return []
  return [
    ...[...text.matchAll(EVERY_TOKEN)].map(({ index, 0: token }): [number, number] => [
      index,
      index + token.length,
    ]),
    ...[...text.matchAll(EVERY_KEY_BLOCK)].map(({ index, 0: block }): [number, number] => [
      index,
      index + block.length,
    ]),
    ...findAuthorizations(text),
    ...findAddressPasswords(text),
  ]
}

/**
 * Whether a text is a placeholder: a value still to be filled in, or a reference to a value that is stored
 * elsewhere.
 */
export function isPlaceholder(text: string): boolean {
  const word = text.trim()
  return word.length <= MAX_PLACEHOLDER && PLACEHOLDER.test(word)
}

/** The number of UTF-16 units within which the start of any credential can be recognized. */
export const CREDENTIAL_HEAD = 1024

/** Tokens that are recognizable by their prefix, provided that the following characters and the length fit. */
const TOKENS = [
  'sk-(?:proj|svcacct|admin|or-v1|ant-[a-z]{2,8}\\d{0,4})-[\\w-]{20,}',
  'sk-(?=[A-Za-z]*\\d)[A-Za-z0-9]{20,}',
  '[sr]k_(?:live|test)_[A-Za-z0-9]{16,}',
  'whsec_[A-Za-z0-9+/=]{20,}',
  'gh[pousr]_[A-Za-z0-9]{30,}',
  'github_pat_\\w{40,}',
  'gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\\w-]{20,}',
  'xox[abdeoprs]-(?=[\\w-]*\\d)[\\w-]{10,}',
  '(?<=hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/)[A-Z0-9]{6,}/[A-Z0-9]{6,}/[\\w/-]{16,}',
  'xapp-\\d-[\\w-]{20,}',
  '(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])',
  'AIza[\\w-]{35}(?![\\w-])',
  'ya29\\.[\\w-]{20,}',
  'GOCSPX-[\\w-]{20,}',
  'npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])',
  'pypi-AgE[\\w-]{50,}',
  'hf_(?=[A-Za-z]*[A-Z])[A-Za-z0-9]{30,}',
  'do[opr]_v1_[a-f0-9]{64}',
  'SG\\.[\\w-]{16,64}\\.[\\w-]{32,}',
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  'lin_(?:api|oauth)_[A-Za-z0-9]{32,}',
  'dckr_(?:pat|oat)_[\\w-]{20,}',
  'hv[sbr]\\.[\\w-]{24,}',
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{40,}',
  'pplx-[A-Za-z0-9]{40,}',
  'r8_[A-Za-z0-9]{36,}',
  'figd_[\\w-]{30,}',
  'tskey-[a-z]+-[\\w-]{16,}',
  'sntry[su]_[\\w+/=-]{30,}',
  'ATATT3x[\\w=-]{50,}',
  'ntn_[A-Za-z0-9]{40,}',
  'secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])',
  'sbp_[a-f0-9]{40}',
  'AGE-SECRET-KEY-1[0-9A-Z]{50,}',
  '(?:bot)?\\d{8,10}:AA[\\w-]{33}(?![\\w-])',
  'eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]{16,}',
]
const TOKEN = new RegExp(`(?<![\\w-])(?:${TOKENS.join('|')})`)
const EVERY_TOKEN = new RegExp(TOKEN, 'g')

const KEY_BLOCK = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d: /

/** A line break within a key block. A line feed may be escaped as in JSON. */
const KEY_LINE = '(?:\\s|\\\\[nr]){0,9}'
const EVERY_KEY_BLOCK = new RegExp(
  `(?:${KEY_BLOCK.source})(?:${KEY_LINE}(?:[\\w-]{2,40}: [^\\n]{0,200}|[\\w+/=]{16,}))*` +
    `(?:${KEY_LINE}[\\w+/]{0,14}=)?(?:${KEY_LINE}-----END[A-Z ]{0,50}-----)?`,
  'g',
)

const AUTHORIZATION_WORD = /bearer|basic|token|apikey/i
const AUTHORIZATION = /(?<![\w-])(?:bearer|basic|token|apikey)[ \t]{1,8}([\w.~+/=-]{20,1000})/gi

function hasAuthorization(text: string): boolean {
  return findAuthorizations(text).next().done === false
}

/**
 * Yields values after `Bearer` and similar words. In prose an ordinary word follows; a token mixes digits
 * with letters and has a run of 12 letters and digits without a hyphen.
 */
function* findAuthorizations(text: string): Generator<[number, number]> {
  if (!AUTHORIZATION_WORD.test(text)) return
  for (const { index, 0: all, 1: value = '' } of text.matchAll(AUTHORIZATION)) {
    const end = index + all.length
    if (/\d/.test(value) && /[A-Za-z]/.test(value) && /[A-Za-z0-9]{12}/.test(value)) {
      yield [end - value.length, end]
    }
  }
}

/** Matches the part between `//` and the host: a name and a password, or a name that is itself a token. */
const ADDRESS = /(?<=[a-z0-9+.-]:\/\/)([^\s/:@?#'"<>`]{0,300}):?((?<=:)[^\s/@?#'"<>`]{1,300})?@/gi

function hasPasswordAddress(text: string): boolean {
  return findAddressPasswords(text).next().done === false
}

function* findAddressPasswords(text: string): Generator<[number, number]> {
  if (!text.includes('@')) return
  for (const { index, 0: all, 1: name = '', 2: password = '' } of text.matchAll(ADDRESS)) {
    const end = index + all.length - 1
    if (password !== '' && !isPlaceholder(password)) yield [end - password.length, end]
    if (password === '' && /^(?=.*\d)(?=.*[A-Za-z])[\w~-]{24,}$/.test(name))
      yield [index, index + name.length]
  }
}

const PLACEHOLDER = new RegExp(
  `^(?:${[
    '',
    '[*x.\\u2022\\u2026-]+', // masked
    '<[^<>]*>',
    '\\[[^[\\]]*\\]',
    '\\{[^{}]*\\}',
    '\\{\\{[^{}]*\\}\\}',
    '\\$\\{?[A-Za-z_]\\w*(?::-[^{}]*)?\\}?', // a shell variable or a template variable
    '\\$\\{\\{[^{}]*\\}\\}',
    '%[A-Za-z_]\\w*%',
    '(?:process\\.env\\.|os\\.environ|env[:.(]|op://|vault:|secretref:|file:)\\S*',
    '(?:your|my|the|some|a|an|example|sample|dummy|fake|test|insert|enter|put)[-_ ][\\w .-]*(?:key|token|secret|password|passwd|pass|credentials?|here|value)s?[\\w .-]*',
    'change[-_ ]?me|placeholder|redacted|example|sample|dummy|none|null|undefined|n/a|todo|tbd|secret|password|passwd|pass|token|key|hidden',
  ].join('|')})$`,
  'i',
)
const MIN_LENGTH = 12
const MAX_PLACEHOLDER = 120
