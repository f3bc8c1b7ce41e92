import { CrabError } from '../base/errors.ts'

/** Characters of a name or alias, at most. */
const MAX_NAME_CHARS = 200
/** Aliases of one entry, at most. */
export const MAX_ALIASES = 100
/** Bytes of a content, at most: one entry always fits a frame of the wire. */
export const MAX_CONTENT_BYTES = 1024 * 1024

/** A name as it is kept. */
export function toName(given: string): string {
  return given.normalize('NFC').trim()
}

/**
 * Names as they are kept, each once, in their order.
 *
 * Throws `invalid`, beginning with `what`, for one that is empty, too long or of more than one line.
 */
export function checkNames(what: string, names: readonly string[]): string[] {
  const kept = names.map(toName)
  for (const name of kept) {
    const problem = findNameProblem(name)
    if (problem !== undefined) throw new CrabError('invalid', `${what}: ${problem}`)
  }
  return [...new Set(kept)]
}

/** Throws `invalid`, beginning with `what`, when an entry has too many aliases. */
export function checkCount(what: string, { aliases }: { aliases: readonly string[] }): void {
  if (aliases.length <= MAX_ALIASES) return
  throw new CrabError('invalid', `${what}: it has more than ${MAX_ALIASES} aliases`)
}

/** A content as it is kept. Throws `invalid`, beginning with `what`, when it is too long. */
export function checkContent(what: string, content: string): string {
  if (Buffer.byteLength(content) <= MAX_CONTENT_BYTES) return content.toWellFormed()
  throw new CrabError('invalid', `${what}: its content is longer than ${MAX_CONTENT_BYTES} bytes`, {
    hint: 'remember in a few words where the whole is',
  })
}

function findNameProblem(name: string): string | undefined {
  if (name === '') return 'a name is empty'
  if ([...name].length > MAX_NAME_CHARS) return `a name is longer than ${MAX_NAME_CHARS} characters`
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(name))
    return 'a name holds a line break or another control character'
  return undefined
}
