import * as z from 'zod/mini'
import { toDotPath } from 'zod/v4/core'
import { CrabError } from '../../base/errors.ts'

/** The parsed arguments of a call. */
export interface SearchArguments {
  query: string
  limit: number
  contextBefore: number
  contextAfter: number
  /** Milliseconds since 1970; `since` is inclusive, `until` exclusive. */
  since: number | undefined
  until: number | undefined
}

/**
 * Parses the arguments of a call. Models write numbers as strings, and values above a limit are lowered to
 * it. `context`, `context_before` and `context_after` are accepted too. Throws `invalid`.
 */
export function searchArguments(args: Record<string, unknown>): SearchArguments {
  const parsed = shape().safeParse(args)
  if (!parsed.success) {
    const place = toDotPath(parsed.error.issues[0]!.path)
    throw new CrabError('invalid', `Cannot search: ${place} is missing or not of this shape: ${SHAPE}`)
  }
  const { query, limit, context, context_before: before, context_after: after, since, until } = parsed.data
  return {
    query,
    limit: Math.min(Math.max(Number(limit ?? DEFAULT_LIMIT), 1), MAX_LIMIT),
    contextBefore: Number(before ?? context ?? DEFAULT_CONTEXT),
    contextAfter: Number(after ?? context ?? DEFAULT_CONTEXT),
    since: toTime('since', since),
    until: toTime('until', until),
  }
}

/**
 * Parses a time. A date without a time means the whole day, month or year: `since` begins with it, `until`
 * ends with it.
 */
function toTime(name: 'since' | 'until', text: string | null | undefined): number | undefined {
  if (text === undefined || text === null || text.trim() === '') return undefined
  const time = Date.parse(text)
  const isDate = /^\d{4}(-\d\d){0,2}$/.test(text.trim())
  if (!Number.isNaN(time)) return isDate && name === 'until' ? findPeriodEnd(text.trim()) : time
  throw new CrabError('invalid', `Cannot search: ${name} is not a date such as 2026-03-01`)
}

/** Returns the end of a day, a month or a year. */
function findPeriodEnd(text: string): number {
  const [year = 0, month, day] = text.split('-').map(Number)
  if (month === undefined) return Date.UTC(year + 1, 0, 1)
  return day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1)
}

const SHAPE = '{"query":"words","since":"2026-03-01","limit":5}'
const DEFAULT_LIMIT = 5
const MAX_LIMIT = 20
const DEFAULT_CONTEXT = 2

function shape() {
  const count = z.nullish(z.union([z.int().check(z.nonnegative()), z.string().check(z.regex(/^\d{1,3}$/))]))
  return z.object({
    query: z.string().check(z.trim(), z.minLength(1)),
    limit: count,
    context: count,
    context_before: count,
    context_after: count,
    since: z.nullish(z.string()),
    until: z.nullish(z.string()),
  })
}
