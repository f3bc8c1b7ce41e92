import { sanitize } from '../core/base/sanitize.ts'
import { takeStart } from '../core/base/truncate.ts'

/** Says that a search found nothing, and why if the query has no word that an index contains. */
export async function describeNoMatches(query: string): Promise<string> {
  const { TermBuffer } = await import('../core/search/terms/term-buffer.ts')
  const terms = new TermBuffer()
  terms.fill(query, 'query')
  const shownQuery = sanitize(takeStart(query, MAX_QUERY_CHARS))
  const why = terms.count > 0 ? '' : ': only words are searched, not punctuation, single digits, a and i'
  return `Nothing found for ${shownQuery}${query.length > MAX_QUERY_CHARS ? '…' : ''}${why}\n`
}

/** The maximum number of characters of a query that are repeated. */
const MAX_QUERY_CHARS = 200
