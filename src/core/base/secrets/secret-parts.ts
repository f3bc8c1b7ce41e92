import { isObject } from '../json.ts'
import { isShaped, type SecretVerdict, secretVerdict } from './secret-names.ts'

/** A member of an object, judged by its name. */
export interface SecretPart {
  name: string
  value: unknown
  verdict: SecretVerdict
  /** Whether the members of `value` are credentials, so that `pass` and `key` name secrets there. */
  inCredentials: boolean
}

/**
 * Returns the members of an object with a verdict based on names: their own, that of the enclosing object
 * (`credentials: {user, pass}`), and a name given by a sibling value (`{name: "password", value: "…"}`).
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

/**
 * Judges a value by the name beside it. A `text` or `default` may also describe the name, so it must look
 * like a secret.
 */
function besideName(name: string, named: SecretVerdict): SecretVerdict | undefined {
  if (/^(?:value|val)$/i.test(name)) return named
  return /^(?:contents?|default|text|data)$/i.test(name) ? 'shaped' : undefined
}

/** Whether a value with that verdict is a secret. */
export function isSecretValue(verdict: SecretVerdict, value: string): boolean {
  return verdict === 'always' || (verdict === 'shaped' && isShaped(value))
}

function verdictIn(name: string, inCredentials: boolean): SecretVerdict {
  return inCredentials && OF_CREDENTIALS.test(name) ? 'always' : secretVerdict(name)
}

/** Judges a table by a name that it holds as a value. */
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
