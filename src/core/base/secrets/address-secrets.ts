import type { TextSpan } from './assigned-secrets.ts'
import { isSecretName, isShaped } from './secret-names.ts'

/**
 * Yields the spans of secrets in the URLs of a text: the user information before `@`, and the values of query
 * and fragment parameters with secret names. With `withKeys` it also yields path segments and query values
 * that look like keys, since some services put keys there.
 */
export function* findAddressSecrets(text: string, withKeys: boolean): Generator<TextSpan> {
  for (const { index, 0: all, 1: name = '', 2: value = '' } of text.matchAll(PARAMETER)) {
    const end = index + all.length
    if (isSecretName(decodePercent(name)) || (withKeys && isKey(value))) yield [end - value.length, end]
  }
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    const start = at + 3
    const host = findEnd(text, start, AUTHORITY_END)
    const user = text.slice(start, host).lastIndexOf('@')
    if (user > 0) yield [start, start + user]
    if (withKeys) yield* keysInPath(text.slice(0, host + MAX_PATH), host)
  }
}

function* keysInPath(text: string, from: number): Generator<TextSpan> {
  const to = findEnd(text, from, PATH_END)
  let start = from + 1
  let before = ''
  for (const part of text.slice(start, to).split('/')) {
    const isNamed = isShaped(part) && isSecretName(before.replace(/s$/i, ''))
    if (isNamed || isKey(part)) yield [start, start + part.length]
    start += part.length + 1
    before = part
  }
}

/** Whether a part is a UUID, or contains a long word of letters and digits that cannot be an ordinary name. */
function isKey(part: string): boolean {
  if (UUID.test(part)) return true
  return part.split(/[-_.~]/).some((word) => word.length >= MIN_KEY && /\d/.test(word) && /[a-z]/i.test(word))
}

function findEnd(text: string, from: number, ends: RegExp): number {
  ends.lastIndex = from
  return ends.exec(text)?.index ?? text.length
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // its % is a literal character
  }
}

const PARAMETER = /[?&;#]([\w.%-]{1,128})=([^&#;\s"'<>`]+)/g
const AUTHORITY_END = /[/?#\s"'<>`]/g
const PATH_END = /[?#\s"'<>`]/g
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const MIN_KEY = 16
const MAX_PATH = 4096
