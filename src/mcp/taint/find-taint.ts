import { setImmediate as turnOver } from 'node:timers/promises'
import { CREDENTIAL_HEAD, hasCredential, isPlaceholder } from '../../core/base/credentials.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { findAssignedSecrets } from '../../core/base/secrets/assigned-secrets.ts'
import { isShaped, type SecretVerdict } from '../../core/base/secrets/secret-names.ts'
import { isSecretValue, listSecretParts } from '../../core/base/secrets/secret-parts.ts'
import { formatPath } from '../../core/config/validation-issue.ts'

/** The location of an argument that must not be sent, and why; never its value. */
export interface Taint {
  /** A path like `headers.Authorization`; a name that is secret itself, or too long to print, is `…`. */
  path: string
  /** A clause: `looks like a credential`. */
  why: string
}

/**
 * Finds the first argument of a call that should not reach a server: one that has the shape of a credential,
 * whose name says that it is one, or a text that assigns one (`DB_PASSWORD=…`). Names are checked before
 * values, in the order of the arguments. A string that is a JSON document is searched like an object, four
 * levels deep.
 *
 * Arguments that are nested more than 64 deep or have over 100,000 parts count as tainted. Yields to the
 * event loop regularly.
 */
export async function findTaint(
  args: JsonObject,
  schema: JsonObject | undefined,
  signal: AbortSignal,
): Promise<Taint | undefined> {
  const open: Part[] = [{ value: args, path: [], verdict: 'never', inCredentials: false, documents: 0 }]
  const pace = newPace(signal)
  for (let visited = 1; open.length > 0; visited++) {
    const part = open.pop()!
    const { value, path } = part
    if (path.length > MAX_DEPTH)
      return { path: show(path.slice(0, 3)), why: `is nested more than ${MAX_DEPTH} levels deep` }
    if (visited + open.length > MAX_PARTS) return { path: '', why: `have more than ${MAX_PARTS} parts` }
    if (isSecret(part)) return { path: show(path), why: 'has the name of a secret' }
    if (typeof value === 'string' && (await pace.any(value, hasCredential))) {
      return { path: show(path), why: 'looks like a credential' }
    }
    if (typeof value === 'string' && (await pace.any(value, hasAssignedSecret))) {
      return { path: show(path), why: 'assigns a value to the name of a secret' }
    }
    const names = isObject(value) ? Object.keys(value) : []
    for (const name of names) {
      if (await pace.any(name, hasCredential))
        return { path: show([...path, name]), why: 'looks like a credential' }
    }
    for (const child of listChildren(part, schema).reverse()) open.push(child)
  }
  return undefined
}

interface Part {
  value: unknown
  path: readonly (string | number)[]
  /** The verdict by its name, or by the name of the list that contains it. */
  verdict: SecretVerdict
  inCredentials: boolean
  /** The number of JSON strings that contain it, nested in one another. */
  documents: number
}

function listChildren(part: Part, schema: JsonObject | undefined): Part[] {
  const { value, path, documents } = part
  if (typeof value === 'string') return parseDocument(part)
  if (Array.isArray(value)) {
    return value.map((one: unknown, i) => ({ ...part, value: one, path: [...path, i] }))
  }
  if (!isObject(value)) return []
  return listSecretParts(value, part.inCredentials).map(({ name, ...member }) => {
    const isPageTokenArgument = path.length === 0 && isPageToken(name, schema)
    return {
      ...member,
      path: [...path, name],
      documents,
      ...(isPageTokenArgument && { verdict: 'never' as const }),
    }
  })
}

/** Parses a string that is a JSON document. */
function parseDocument({ value, path, inCredentials, documents }: Part): Part[] {
  const text = String(value)
  if (documents >= MAX_DOCUMENTS || text.length > MAX_DOCUMENT || !/^\s*[{["]/.test(text)) return []
  try {
    return [{ value: JSON.parse(text), path, verdict: 'never', inCredentials, documents: documents + 1 }]
  } catch {
    return [] // its text has already been scanned
  }
}

/**
 * Whether a value under a secret name is a secret: empty values, placeholders, booleans and nulls are not,
 * nor, inside a document, words as they occur in schemas and translations.
 */
function isSecret({ value, verdict, documents }: Part): boolean {
  if (typeof value === 'number') return verdict === 'always' && documents === 0
  if (typeof value !== 'string' || !isSecretValue(verdict, value) || isPlaceholder(value)) return false
  return documents === 0 || isShaped(value) || /^(?!string$|boolean$|password)[!-@[-~]{8,}$/.test(value)
}

function hasAssignedSecret(text: string): boolean {
  return findAssignedSecrets(text).next().done === false
}

function show(path: readonly (string | number)[]): string {
  return formatPath(path.map((part) => (typeof part === 'string' && isUnprintable(part) ? '…' : part)))
}

function isUnprintable(name: string): boolean {
  return name.length > MAX_SHOWN || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}']/u.test(name) || hasCredential(name)
}

/** Scans texts of any length in pieces, yielding to the event loop in between. */
function newPace(signal: AbortSignal): {
  any(text: string, test: (piece: string) => boolean): Promise<boolean>
} {
  let left = PIECE
  return {
    async any(text, test) {
      for (let at = 0; at < text.length; at += PIECE) {
        const piece = text.slice(at, at + PIECE + CREDENTIAL_HEAD)
        left -= piece.length + PART_COST
        if (left < 0) {
          await turnOver(undefined, { signal })
          left = PIECE
        }
        if (test(piece)) return true
      }
      return false
    },
  }
}

const MAX_DEPTH = 64
const MAX_PARTS = 100_000
const MAX_SHOWN = 64
const MAX_DOCUMENTS = 4
/** The longest string that is parsed, in UTF-16 units; a longer one is only scanned as text. */
const MAX_DOCUMENT = 1024 * 1024
/** The UTF-16 units scanned at a time. */
const PIECE = 128 * 1024
const PART_COST = 32

/**
 * Whether an argument named `token` is a pagination cursor, judging by its title or description. No other
 * secret name is excused like that, because the description comes from the server.
 */
export function isPageToken(name: string, schema: JsonObject | undefined): boolean {
  if (name.toLowerCase() !== 'token') return false
  const properties = schema?.['properties']
  const declared = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (!isObject(declared)) return false
  const words = [declared['title'], declared['description']]
    .filter((word) => typeof word === 'string')
    .join(' ')
  return (
    /\b(?:pag(?:e|es|ing|ination)|cursor|continuation|continue|next|resume|sync)\b/i.test(words) &&
    !ABOUT_ACCESS.test(words)
  )
}

const ABOUT_ACCESS = /\b(?:auth\w*|api|access|bearer|secret|credential|login|password)\b/i
