import { CrabError } from '../base/errors.ts'

/** The maximum length of a name or alias, in characters. */
const MAX_NAME_CHARS = 200
/** The maximum number of aliases of one entry. */
export const MAX_ALIASES = 100
/** The maximum size of a content in bytes: an entry always fits into one frame of the wire. */
export const MAX_CONTENT_BYTES = 1024 * 1024

/** Normalizes a name to its stored form: NFC, without surrounding blanks. */
export function toName(text: string): string {
  return text.normalize('NFC').trim()
}

/**
 * Normalizes names and removes duplicates; keeps their order.
 *
 * Throws `invalid`, with a message that begins with `what`, for a name that is empty, too long or not on one
 * line.
 */
export function checkNames(what: string, names: readonly string[]): string[] {
  const normalized = names.map(toName)
  for (const name of normalized) {
    const problem = findNameProblem(name)
    if (problem !== undefined) throw new CrabError('invalid', `${what}: ${problem}`)
  }
  return [...new Set(normalized)]
}

/** Throws `invalid`, with a message that begins with `what`, when an entry has too many aliases. */
export function checkCount(what: string, { aliases }: { aliases: readonly string[] }): void {
  if (aliases.length <= MAX_ALIASES) return
  throw new CrabError('invalid', `${what}: it has more than ${MAX_ALIASES} aliases`)
}

/**
 * Returns a content in its stored form. Throws `invalid`, with a message that begins with `what`, when it is
 * too long.
 */
export function checkContent(what: string, content: string): string {
  if (Buffer.byteLength(content) <= MAX_CONTENT_BYTES) return content.toWellFormed()
  throw new CrabError('invalid', `${what}: its content is longer than ${MAX_CONTENT_BYTES} bytes`, {
    hint: 'store a short note that says where the full text is',
  })
}

function findNameProblem(name: string): string | undefined {
  if (name === '') return 'a name is empty'
  if ([...name].length > MAX_NAME_CHARS) return `a name is longer than ${MAX_NAME_CHARS} characters`
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(name))
    return 'a name holds a line break or another control character'
  return undefined
}
