/**
 * Whether a text holds something that has the shape of a credential: a token of a known service, a JSON web token, a
 * private key, what stands behind `Bearer`, an address with a password.
 *
 * Hashes, UUIDs and files as base64 have none of these shapes. Takes time in proportion to the text; whoever has a long one
 * gives it in pieces that overlap by CREDENTIAL_HEAD.
 */
export function hasCredential(text: string): boolean {
  if (text.length < MIN_LENGTH) return false
  return TOKEN.test(text) || KEY_BLOCK.test(text) || hasAuthorization(text) || hasPasswordAddress(text)
}

/** Where the credentials of a text stand that `hasCredential` knows: begin and end of each, in no order; they may overlap. */
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

/** Whether a text stands for a value that somebody is to fill in, or that is known elsewhere under a name. */
export function isPlaceholder(text: string): boolean {
  const word = text.trim()
  return word.length <= MAX_PLACEHOLDER && PLACEHOLDER.test(word)
}

/** By so many UTF-16 units the beginning of every credential can be told. */
export const CREDENTIAL_HEAD = 1024

/** Tokens that give themselves away by their beginning; letters, digits and length behind it have to fit. */
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

/** With its headers, its lines, and its end where it has one; a line feed may be written as in JSON. */
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

/** What follows `Bearer` in a sentence is a word; a token has digits among its letters, and not only where words join. */
function* findAuthorizations(text: string): Generator<[number, number]> {
  if (!AUTHORIZATION_WORD.test(text)) return
  for (const { index, 0: all, 1: value = '' } of text.matchAll(AUTHORIZATION)) {
    const end = index + all.length
    if (/\d/.test(value) && /[A-Za-z]/.test(value) && /[A-Za-z0-9]{12}/.test(value)) {
      yield [end - value.length, end]
    }
  }
}

/** Behind `//`: a name and a password, or a name that is a token itself, before the host. */
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
    '\\$\\{?[A-Za-z_]\\w*(?::-[^{}]*)?\\}?', // of a shell, or of a template
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
