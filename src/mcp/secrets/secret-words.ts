import { REDACTED } from '../../core/config/secrets.ts'
import type { ServerTarget } from '../fingerprint.ts'
import { maskPath } from './path-secrets.ts'

/** The words of a command line, or an address, without what looks like a secret. */
export function showWords(words: readonly string[]): string[] {
  return maskWords(words, () => REDACTED)
}

/**
 * All that was given to a server and may be secret, longest first; `counts` says which values are, as a whole. Short
 * values are found in too many words to count.
 */
export function secretsOf(target: ServerTarget, counts = mayBeSecret): string[] {
  const isProgram = target.transport === 'stdio'
  const words = isProgram ? [target.command, ...target.args] : [target.url, ...(target.authHelper ?? [])]
  const given = Object.entries(isProgram ? target.env : target.headers)
  const auth = isProgram || target.auth === undefined ? [] : [target.auth]
  const meant = given.filter(([name, value]) => counts(name, value)).map(([, value]) => value)
  const whole = [...meant, ...auth].filter(({ length }) => length >= MIN_VALUE)
  const keys = isProgram ? [] : [...keysIn(target.url), ...basicOf(target.url)]
  const values = [...given.map(([, value]) => value), ...auth]
  const parts = [...keys, ...maskedIn(words), ...values.flatMap((value) => maskedIn([value]))]
  const all = [...whole, ...parts].flatMap(formsOf)
  const secrets = new Set(all.filter((secret) => secret.length >= MIN_PART && secret !== REDACTED))
  return [...secrets].toSorted((a, b) => b.length - a.length)
}

function mayBeSecret(name: string, value: string): boolean {
  return isSecretName(name) || !isPlain(value)
}

/** What HTTP makes of the user and the password of an address, with and without its padding. */
function basicOf(url: string): string[] {
  const { username = '', password = '' } = URL.parse(url) ?? {}
  if (username === '' && password === '') return []
  const value = Buffer.from(`${unescaped(username)}:${unescaped(password)}`).toString('base64')
  return [value, value.replace(/=+$/, '')]
}

type Hide = (secret: string) => string

function maskedIn(words: readonly string[]): string[] {
  const found: string[] = []
  maskWords(words, (secret) => {
    found.push(secret)
    return REDACTED
  })
  return found
}

function keysIn(url: string): string[] {
  const found: string[] = []
  maskPath(url, (secret) => {
    found.push(secret)
    return REDACTED
  })
  return found
}

function maskWords(words: readonly string[], hide: Hide): string[] {
  return words.map((word, at) => {
    const isValue = isSecretOption(words[at - 1] ?? '') && !word.startsWith('--')
    return isValue ? hide(word) : maskWord(word, hide)
  })
}

function maskWord(word: string, hide: Hide): string {
  const [, start = '', name = '', value = ''] = /^(-{0,2}([a-z_][\w.-]*)=)(.+)$/is.exec(word) ?? []
  if (start !== '') return start + (isSecretName(name) ? hide(value) : maskWord(value, hide))
  const [, head = '', header = '', content = ''] = /^(([a-z][\w-]*):\s*)([^\s/].*)$/is.exec(word) ?? []
  if (head !== '' && isSecretName(header)) return head + hide(content)
  const text = maskText(word, hide)
  const pieces = text.split(/(\s+)/)
  if (pieces.length === 1) return text
  const shown = maskWords(
    pieces.filter((_, i) => i % 2 === 0),
    hide,
  )
  return shown.map((piece, i) => piece + (pieces[2 * i + 1] ?? '')).join('')
}

/** What gives itself away in the middle of a word: of addresses, of HTTP and of JSON. */
function maskText(text: string, hide: Hide): string {
  return text
    .replace(/(?<=:\/\/)([^/\s]*)@/g, (_, user: string) => `${hide(user)}@`)
    .replace(/([?&]([\w.-]+)=)([^&#\s]+)/g, (all: string, start: string, name: string, value: string) =>
      isSecretName(name) ? start + hide(value) : all,
    )
    .replace(/\b((?:bearer|basic) +)([^\s'"]+)/gi, (_, start: string, value: string) => start + hide(value))
    .replace(
      /("([\w.-]+)"\s*:\s*")((?:[^"\\]|\\.)+)/g,
      (all: string, start: string, name: string, value: string) =>
        isSecretName(name) ? start + hide(value) : all,
    )
}

/** `--no-auth` is none: it takes no value. */
function isSecretOption(word: string): boolean {
  const [, name] = /^--?(?!no-)([a-z][\w.-]*)$/i.exec(word) ?? []
  return name !== undefined && isSecretName(name)
}

/** Whether a value under that name may be secret. By whole parts of the name: `--keyboard` and `--author` are none. */
export function isSecretName(name: string): boolean {
  const parts = name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[-_.]+/)
  return parts.some((part) => SECRET_PART.test(part)) || /connection_?string/.test(parts.join('_'))
}

/** What is no secret under a name that is none: numbers, and paths or lists of them. */
function isPlain(value: string): boolean {
  return (
    /^-?[\d.]+$/.test(value) || /^(~|\.{1,2})?[/\\][\w./\\:@ ~-]*$/.test(value) || /^[a-z]:[/\\]/i.test(value)
  )
}

/** A secret as a program may repeat it: whole, line by line, the password without its user or scheme, and without escapes. */
function formsOf(secret: string): string[] {
  const lines = secret.includes('\n') ? secret.split(/\r?\n/).filter(({ length }) => length >= MIN_VALUE) : []
  const password = /^(?:[^\s:]+:|(?:bearer|basic|token) +)(\S+)$/i.exec(secret)?.[1]
  const forms = [secret, ...lines, ...(password !== undefined && !isPlain(password) ? [password] : [])]
  return [...forms, ...forms.filter((form) => form.includes('%')).map(unescaped)]
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // its % is a plain character
  }
}

/** Long words also at the end of a part, as in PGPASSWORD. */
const SECRET_PART =
  /^(.*(token|secrets?|passwords?|passwd|passphrase|(api|access|private|secret)keys?|credentials?)|keys?|auth|authorization|pass|pwd|pw|creds?|pat|jwt|bearer|cookie|dsn)$/
const MIN_VALUE = 8
const MIN_PART = 4
