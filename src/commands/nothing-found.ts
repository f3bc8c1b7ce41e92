import { headOf } from '../core/base/cut.ts'
import { sanitize } from '../core/base/sanitize.ts'

/** Tells that a search found nothing, and why when there is no word in the query that an index has. */
export async function nothingFound(query: string): Promise<string> {
  const { TermBuffer } = await import('../core/search/terms/term-buffer.ts')
  const terms = new TermBuffer()
  terms.fill(query, 'query')
  const asked = sanitize(headOf(query, SHOWN))
  const why = terms.count > 0 ? '' : ': words are looked for, not signs, single digits, a and i'
  return `Nothing was found for ${asked}${query.length > SHOWN ? '…' : ''}${why}\n`
}

/** Of a query. */
const SHOWN = 200
