import type { TextSpan } from './assigned-secrets.ts'
import { isSecretName, isShaped } from './secret-names.ts'

/**
 * Gives the places of secrets in the addresses of a text: before the `@`, and values of the query and the fragment whose
 * names say so. With `withKeys` also what looks like a key in place of a name, in the path or the query, as some services
 * hand them out.
 */
export function* findAddressSecrets(text: string, withKeys: boolean): Generator<TextSpan> {
  for (const { index, 0: all, 1: name = '', 2: value = '' } of text.matchAll(PARAMETER)) {
    const end = index + all.length
    if (isSecretName(unescaped(name)) || (withKeys && isKey(value))) yield [end - value.length, end]
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
    const isNamed = isShaped(part) && /^(?:tokens?|keys?|secrets?|apikeys?|auth)$/i.test(before)
    if (isNamed || isKey(part)) yield [start, start + part.length]
    start += part.length + 1
    before = part
  }
}

/** Whether it is a UUID, or a long word of letters and digits that nothing would be called. */
function isKey(part: string): boolean {
  if (UUID.test(part)) return true
  return part.split(/[-_.~]/).some((word) => word.length >= MIN_KEY && /\d/.test(word) && /[a-z]/i.test(word))
}

function findEnd(text: string, from: number, ends: RegExp): number {
  ends.lastIndex = from
  return ends.exec(text)?.index ?? text.length
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // its % is a plain character
  }
}

const PARAMETER = /[?&;#]([\w.%-]{1,128})=([^&#;\s"'<>`]+)/g
const AUTHORITY_END = /[/?#\s"'<>`]/g
const PATH_END = /[?#\s"'<>`]/g
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const MIN_KEY = 16
const MAX_PATH = 4096
