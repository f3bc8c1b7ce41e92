import { isObject } from '../json.ts'
import { isShaped, secretVerdict, type Verdict } from './secret-names.ts'

/** A member of an object. */
export interface SecretPart {
  name: string
  value: unknown
  verdict: Verdict
  /** Whether the members of `value` belong to somebody's credentials, where `pass` and `key` mean what they say. */
  inCredentials: boolean
}

/**
 * Gives the members of an object with what their names say: their own, that of the object they are in (`credentials:
 * {user, pass}`), and the one that stands beside them as a value (`{name: "password", value: "…"}`).
 */
export function secretPartsOf(table: Record<string, unknown>, inCredentials: boolean): SecretPart[] {
  const named = namedVerdict(table)
  return Object.entries(table).map(([name, value]) => ({
    name,
    value,
    verdict: (named !== undefined && besideName(name, named)) || verdictIn(name, inCredentials),
    inCredentials: isObject(value) && CREDENTIALS.test(name),
  }))
}

/** What a name means for the value beside it: a `text` or `default` may also be about the name. */
function besideName(name: string, named: Verdict): Verdict | undefined {
  if (/^(?:value|val)$/i.test(name)) return named
  return /^(?:contents?|default|text|data)$/i.test(name) ? 'shaped' : undefined
}

/** Returns whether a value with that verdict is a secret. */
export function isSecretValue(verdict: Verdict, value: string): boolean {
  return verdict === 'always' || (verdict === 'shaped' && isShaped(value))
}

function verdictIn(name: string, inCredentials: boolean): Verdict {
  return inCredentials && OF_CREDENTIALS.test(name) ? 'always' : secretVerdict(name)
}

/** What the name says that stands in a table as a value, beside a value. */
function namedVerdict(table: Record<string, unknown>): Verdict | undefined {
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
