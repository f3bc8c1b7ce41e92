import { findSecrets, REDACTED } from '../../core/base/secrets/redact.ts'
import { isSecretName } from '../../core/base/secrets/secret-names.ts'
import { isUnfilled } from '../../core/base/secrets/unfilled.ts'
import type { ServerTarget } from '../fingerprint.ts'

/**
 * Collects everything given to a server that may be secret, longest first; `counts` selects the values that
 * count as a whole. Short values are left out, because they occur in too many words, and so are unfilled
 * placeholders.
 */
export function collectSecrets(target: ServerTarget, counts = mayBeSecret): string[] {
  const isProgram = target.transport === 'stdio'
  const helper = (isProgram ? target.envHelper : target.authHelper) ?? []
  const words = isProgram ? [target.command, ...target.args] : []
  const pairs = Object.entries(isProgram ? target.env : target.headers)
  const auth = isProgram || target.auth === undefined ? [] : [target.auth]
  const secretValues = pairs.filter(([name, value]) => counts(name, value)).map(([, value]) => value)
  const whole = [...secretValues, ...auth].filter((value) => value.length >= MIN_VALUE && !isUnfilled(value))
  const address = isProgram ? [] : [...secretsInWords([target.url]), ...toBasicCredentials(target.url)]
  const values = [...pairs.map(([, value]) => value), ...auth]
  const parts = [
    ...address,
    ...secretsInWords(words),
    ...secretsInWords(helper),
    ...values.flatMap((value) => secretsInWords([value])),
  ]
  const all = [...whole, ...parts].flatMap(listSecretForms)
  const secrets = new Set(all.filter((secret) => secret.length >= MIN_PART && secret !== REDACTED))
  return [...secrets].toSorted((a, b) => b.length - a.length)
}

function secretsInWords(words: readonly string[]): string[] {
  return findSecrets(words).flatMap((places, i) => places.map(([from, to]) => words[i]!.slice(from, to)))
}

function mayBeSecret(name: string, value: string): boolean {
  return isSecretName(name) || !isPlain(value)
}

/** Encodes the user and the password of a URL as HTTP Basic does, with and without padding. */
function toBasicCredentials(url: string): string[] {
  const { username = '', password = '' } = URL.parse(url) ?? {}
  if (username === '' && password === '') return []
  const value = Buffer.from(`${unescaped(username)}:${unescaped(password)}`).toString('base64')
  return [value, value.replace(/=+$/, '')]
}

/** Whether a value is not a secret: a number, a path or a list of paths. */
function isPlain(value: string): boolean {
  return (
    /^-?[\d.]+$/.test(value) || /^(~|\.{1,2})?[/\\][\w./\\:@ ~-]*$/.test(value) || /^[a-z]:[/\\]/i.test(value)
  )
}

/**
 * Returns the forms in which a program may repeat a secret: whole, line by line, the password without its
 * user or scheme, and decoded.
 */
function listSecretForms(secret: string): string[] {
  const lines = secret.includes('\n') ? secret.split(/\r?\n/).filter(({ length }) => length >= MIN_VALUE) : []
  const password = /^(?:[^\s:]+:|(?:bearer|basic|token) +)(\S+)$/i.exec(secret)?.[1]
  const forms = [secret, ...lines, ...(password !== undefined && !isPlain(password) ? [password] : [])]
  return [...forms, ...forms.filter((form) => form.includes('%')).map(unescaped)]
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // its % is a literal character
  }
}

const MIN_VALUE = 8
const MIN_PART = 4
