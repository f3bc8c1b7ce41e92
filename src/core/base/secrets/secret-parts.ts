import { isObject } from '../json.ts'
import { isShaped, type SecretVerdict, secretVerdict } from './secret-names.ts'

/** A member of an object. */
export interface SecretPart {
  name: string
  value: unknown
  verdict: SecretVerdict
  /** Whether the members of `value` are credentials, where `pass` and `key` mean what they say. */
  inCredentials: boolean
}

/**
 * Gives the members of an object with what their names say: their own, that of the object they are in (`credentials:
 * {user, pass}`), and the one that stands beside them as a value (`{name: "password", value: "…"}`).
 */
export function listSecretParts(table: Record<string, unknown>, inCredentials: boolean): SecretPart[] {
  const named = namedVerdict(table)
  return Object.entries(table).map(([name, value]) => ({
    name,
    value,
    verdict: (named !== undefined && besideName(name, named)) || verdictIn(name, inCredentials),
    inCredentials: isObject(value) && CREDENTIALS.test(name),
  }))
}

/** Judges the value beside a name by that name; a `text` or `default` may also be about the name. */
function besideName(name: string, named: SecretVerdict): SecretVerdict | undefined {
  if (/^(?:value|val)$/i.test(name)) return named
  return /^(?:contents?|default|text|data)$/i.test(name) ? 'shaped' : undefined
}

/** Returns whether a value with that verdict is a secret. */
export function isSecretValue(verdict: SecretVerdict, value: string): boolean {
  return verdict === 'always' || (verdict === 'shaped' && isShaped(value))
}

function verdictIn(name: string, inCredentials: boolean): SecretVerdict {
  return inCredentials && OF_CREDENTIALS.test(name) ? 'always' : secretVerdict(name)
}

/** Judges a table by a name that it holds as a value beside another value. */
function namedVerdict(table: Record<string, unknown>): SecretVerdict | undefined {
  for (const key of NAMES) {
    const name = Object.hasOwn(table, key) ? table[key] : undefined
    if (typeof name !== 'string') continue
    const verdict = secretVerdict(name.trim())
    if (verdict !== 'never') return verdict
  }
  return undefined
}

const NAMES = ['name', 'key', 'id', 'field', 'variable', 'header', 'param', 'parameter', 'label']
const CREDENTIALS =
  /(?:^|[^a-z])(?:credentials?|creds?|auth|authentication|login|basic_?auth)$|Auth$|Credentials$/i
const OF_CREDENTIALS = /^(?:pass|pw|pwd|key)$/i
