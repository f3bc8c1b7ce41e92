import * as z from 'zod/mini'
import type { JsonObject } from '../base/message.ts'
import {
  checkValue,
  filledString,
  strictTable,
  type TableIssue,
  tableCheck,
  wholeNumber,
} from '../config/schema.ts'
import type { Result, ValidationIssue } from '../config/validation-issue.ts'

/** The most subscriptions a home can have. */
export const MAX_SUBSCRIPTIONS = 1000

const MAX_SOURCE_BYTES = 256

const subscription = strictTable({
  id: wholeNumber(1),
  source: z
    .string()
    .check(z.refine((source) => sourceProblem(source) === undefined, 'is not an event source')),
  target_agent: filledString(),
  once: z._default(z.boolean(), false),
})

/** The schema of events/subscriptions.toml (ADR 0107). */
const subscriptionsTable = strictTable({
  /** The id of the next subscription: ids are never reused. */
  next_id: z.exactOptional(wholeNumber(1)),
  subscription: z._default(z.array(subscription), []),
}).check(tableCheck((table) => findIssues(table['subscription'])))

/**
 * An agent that is started by each event published under exactly this source. The keys are those of the file.
 */
export type Subscription = z.infer<typeof subscription>

/** The contents of the subscriptions file. */
export type Subscriptions = z.infer<typeof subscriptionsTable>

/** Validates the contents of the file; no id may occur twice. */
export function checkSubscriptions(table: JsonObject): Result<Subscriptions, ValidationIssue> {
  return checkValue(subscriptionsTable, table)
}

/** Returns what is wrong with an event's source, as the end of a sentence; undefined for a valid source. */
export function sourceProblem(source: string): string | undefined {
  if (source === '') return 'the source is empty'
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES)
    return `the source is longer than ${MAX_SOURCE_BYTES} bytes`
  return /\p{Cc}|\p{Cs}/u.test(source) ? 'the source has a control character in it' : undefined
}

function* findIssues(list: unknown): Generator<TableIssue> {
  if (!Array.isArray(list)) return
  const path = ['subscription']
  if (list.length > MAX_SUBSCRIPTIONS)
    yield { path, predicate: `has more than ${MAX_SUBSCRIPTIONS} tables, the limit` }
  const first = new Map<unknown, number>()
  for (const [index, one] of list.entries()) {
    const id: unknown = one?.id
    if (id === undefined) continue
    if (first.has(id))
      yield {
        path: [...path, index, 'id'],
        predicate: 'is already used by another subscription',
        hint: 'give each subscription its own',
      }
    else first.set(id, index)
  }
}
