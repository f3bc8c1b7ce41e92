import { setImmediate as turnOver } from 'node:timers/promises'
import { CREDENTIAL_HEAD, hasCredential, isPlaceholder } from '../../core/base/credentials.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { isSecretKey } from '../../core/base/secret-key.ts'
import { formatPath } from '../../core/config/problem.ts'
import { isPlaceInList } from './place-in-list.ts'

/** What must not be sent, and where it stands; never what it is. */
export interface Taint {
  /** As `headers.Authorization`; a name that is secret itself, or too long to print, is `…`. */
  path: string
  /** A clause: `looks like a credential`. */
  why: string
}

/**
 * The first thing among the arguments of a call that should not reach a server: what has the shape of a credential, or
 * stands under a name that says so. Names come before values, in the order of the arguments.
 *
 * Arguments that are nested more than 64 deep or have over 100,000 parts count as tainted. The event loop goes on meanwhile.
 */
export async function findTaint(
  args: JsonObject,
  schema: JsonObject | undefined,
  signal: AbortSignal,
): Promise<Taint | undefined> {
  const open: Part[] = [{ value: args, path: [], isSecret: false }]
  const pace = newPace(signal)
  for (let seen = 1; open.length > 0; seen++) {
    const part = open.pop()!
    const { value, path, isSecret } = part
    if (path.length > MAX_DEPTH)
      return { path: show(path.slice(0, 3)), why: `is nested more than ${MAX_DEPTH} deep` }
    if (seen + open.length > MAX_PARTS) return { path: '', why: `have more than ${MAX_PARTS} parts` }
    if (isSecret && isSet(value)) return { path: show(path), why: 'has the name of a secret' }
    if (typeof value === 'string' && (await pace.any(value, hasCredential))) {
      return { path: show(path), why: 'looks like a credential' }
    }
    const names = isObject(value) ? Object.keys(value) : []
    for (const name of names) {
      if (await pace.any(name, hasCredential))
        return { path: show([...path, name]), why: 'looks like a credential' }
    }
    for (const child of childrenOf(part, schema).reverse()) open.push(child)
  }
  return undefined
}

interface Part {
  value: unknown
  path: readonly (string | number)[]
  /** By its name, or that of the list it is in. */
  isSecret: boolean
}

function childrenOf({ value, path, isSecret }: Part, schema: JsonObject | undefined): Part[] {
  if (Array.isArray(value))
    return value.map((one: unknown, i) => ({ value: one, path: [...path, i], isSecret }))
  if (!isObject(value)) return []
  return Object.entries(value).map(([name, one]) => {
    const isPlace = path.length === 0 && isPlaceInList(name, schema)
    return { value: one, path: [...path, name], isSecret: isSecretKey(name) && !isPlace }
  })
}

/** Whether there is a secret to tell: an empty value, a placeholder, a switch and a null are none. */
function isSet(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && !isPlaceholder(value))
}

function show(path: readonly (string | number)[]): string {
  return formatPath(path.map((part) => (typeof part === 'string' && isUnprintable(part) ? '…' : part)))
}

function isUnprintable(name: string): boolean {
  return name.length > MAX_SHOWN || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}']/u.test(name) || hasCredential(name)
}

/** Looks through texts of any length, and lets the event loop go on in between. */
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
/** UTF-16 units that are looked through at a time. */
const PIECE = 128 * 1024
const PART_COST = 32
