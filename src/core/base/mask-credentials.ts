import { credentialPlaces, isPlaceholder } from './credentials.ts'
import { isSecretKey } from './secret-key.ts'

/**
 * A text with `mask` in the place of what looks like a secret: credentials by their shape, and what is given to a name
 * of one (`DB_PASSWORD=hunter2`).
 */
export function maskCredentials(text: string, mask: string): string {
  if (!MAY_HOLD_ONE.test(text)) return text
  const places = [...credentialPlaces(text), ...givenSecrets(text)].sort(([a], [b]) => a - b)
  let masked = ''
  let end = 0
  for (const [from, to] of places) {
    if (from >= end) masked += text.slice(end, from) + mask
    end = Math.max(end, to)
  }
  return masked + text.slice(end)
}

/** A long word, a password in an address, or a name of a secret: cheap to look for, and most texts have none. */
const MAY_HOLD_ONE =
  /[^\s]{15}|@|[Pp]ass|PASS|pwd|PWD|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Kk]ey|KEY|[Cc]ookie|COOKIE/

const GIVEN = /(?<![\w.-])([A-Za-z_][\w.-]{1,60})["']?[ \t]{0,4}[=:][ \t]{0,4}["']?([^\s"'`,;&|<>]{6,300})/g

/** Values with a digit and a letter: types, places and calls have the same names in source code. */
function* givenSecrets(text: string): Generator<[number, number]> {
  for (const { index, 0: all, 1: name = '', 2: value = '' } of text.matchAll(GIVEN)) {
    if (!/\d/.test(value) || !/[A-Za-z]/.test(value) || /^[./~]|[()[\]{}]/.test(value)) continue
    const end = index + all.length
    if (isSecretKey(name) && !isPlaceholder(value)) yield [end - value.length, end]
  }
}
