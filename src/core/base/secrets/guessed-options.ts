import type { TextSpan } from './assigned-secrets.ts'

/**
 * Returns the span of the secret in a word that follows an option, or contains one, for programs with unknown
 * options; undefined when the value does not look like a secret.
 *
 * Ports, paths, counts, versions and names are not secrets. A value is judged by its shape and by the letter
 * of the option.
 */
export function guessedSecret(word: string, before: string): TextSpan | undefined {
  const whole: TextSpan = [0, word.length]
  const [, long = '', value] = /^--(licen[cs]e|pin)(?:=(.*))?$/is.exec(word) ?? []
  if (value !== undefined)
    return isLongValue(long, value) ? [word.length - value.length, word.length] : undefined
  const [, name = ''] = /^--(licen[cs]e|pin)$/i.exec(before) ?? []
  if (name !== '') return isLongValue(name, word) ? whole : undefined
  const [, letter = ''] = /^-([a-z])$/i.exec(before) ?? []
  if (letter !== '') {
    const isShort = SECRET_LETTER.test(letter) && isMixed(word)
    return isShort || (!PLAIN_LETTER.test(letter) && isKey(word)) ? whole : undefined
  }
  const attached = /^-[pkt](.*)$/is.exec(word)?.[1] ?? ''
  const isAttached =
    isHex(attached) || (isMixed(attached) && /[A-Z]/.test(attached) && !/^[a-z]{3}/.test(attached))
  return isAttached ? [2, word.length] : undefined
}

function isLongValue(name: string, value: string): boolean {
  if (/^(?:-|$)|[/\\\s]|\.[a-z]+$/i.test(value)) return false // another option, a path, a file
  if (/^pin$/i.test(name))
    return /^(?=.*\d)[\w-]{4,}$/.test(value) && !/^(?:gpio|pin|[a-d])[_-]?\d{1,3}$/i.test(value)
  return value.length >= 8 && !LICENSE.test(value)
}

/** Whether a value is a long key: hexadecimal, or a mixture of digits and both cases as in base64. */
function isKey(value: string): boolean {
  if (isHex(value)) return value.length >= MIN_KEY
  const kinds = [/\d/, /[a-z]/, /[A-Z]/].filter((kind) => kind.test(value)).length
  return value.length >= MIN_KEY && kinds === 3 && /^[\w+-]+={0,2}$/.test(value)
}

/**
 * Whether letters and digits alternate more often than in a name: `HUNTER2AAA` and `a1b2c3d4` do; `server2`
 * and `x86_64` do not.
 */
function isMixed(value: string): boolean {
  if (isHex(value) || isKey(value)) return true
  if (!/^[A-Za-z\d+_]{8,}={0,2}$/.test(value)) return false
  const changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0
  return changes > (/[A-Z]/.test(value) ? 1 : 2)
}

function isHex(value: string): boolean {
  return /^(?=.*\d)(?=.*[a-f])(?:[\da-f]{2}){8,}$/i.test(value)
}

/** Option letters that mean a password, key or token, unless they mean a port, path or table. */
const SECRET_LETTER = /^[pktasw]$/i
/** Option letters whose values are often hashes: revisions, branches, digests. */
const PLAIN_LETTER = /^[bcdfior]$/i
const LICENSE =
  /^(?:mit|isc|unlicen[cs]ed?|(?:apache|bsd|[al]?gpl|mpl|epl|cc|artistic|zlib|wtfpl|boost|bsl|eupl|ofl|ms)\b.*|proprietary|commercial|community|enterprise|developer|evaluation|personal|non-?commercial|professional|opensource|open-source|accept(?:ed)?)$/i
const MIN_KEY = 32
