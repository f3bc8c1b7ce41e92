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

/** Most subscriptions of a home. */
export const MAX_SUBSCRIPTIONS = 1000

const MAX_SOURCE_BYTES = 256

const subscription = strictTable({
  id: wholeNumber(1),
  source: z.string().check(z.refine((source) => sourceProblem(source) === undefined, 'is no event source')),
  target_agent: filledString(),
  once: z._default(z.boolean(), false),
})

/** What events/subscriptions.toml may say (RFC 0121). */
const subscriptionsTable = strictTable({
  /** Of the next subscription: an id never comes back. */
  next_id: z.exactOptional(wholeNumber(1)),
  subscription: z._default(z.array(subscription), []),
}).check(tableCheck((table) => findIssues(table['subscription'])))

/** One agent that is started by whatever is published under exactly one source. Keys are those of the file. */
export type Subscription = z.infer<typeof subscription>

/** What the file says. */
export type Subscriptions = z.infer<typeof subscriptionsTable>

/** Checks what the file says; an id stands in it once. */
export function checkSubscriptions(table: JsonObject): Result<Subscriptions, ValidationIssue> {
  return checkValue(subscriptionsTable, table)
}

/** What is wrong with an event's source, as the end of a sentence; undefined when nothing is. */
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
        predicate: 'is that of another subscription',
        hint: 'give each its own',
      }
    else first.set(id, index)
  }
}
