import { sanitize } from '../core/base/sanitize.ts'
import { takeStart } from '../core/base/truncate.ts'

/** Tells that a search found nothing, and why when there is no word in the query that an index has. */
export async function describeNoMatches(query: string): Promise<string> {
  const { TermBuffer } = await import('../core/search/terms/term-buffer.ts')
  const terms = new TermBuffer()
  terms.fill(query, 'query')
  const asked = sanitize(takeStart(query, MAX_QUERY_CHARS))
  const why = terms.count > 0 ? '' : ': words are looked for, not signs, single digits, a and i'
  return `Nothing was found for ${asked}${query.length > MAX_QUERY_CHARS ? '…' : ''}${why}\n`
}

/** Of a query. */
const MAX_QUERY_CHARS = 200
