import { takeStart } from '../../base/truncate.ts'
import type { Excerpt, SessionMatch, SessionMatches } from '../../session-search/types.ts'

/**
 * Formats search results as compact text for a model: for each conversation its id as in listings, its date
 * and title, then its excerpts, with `>` before the match.
 */
export function toAnswer(
  { matches, partial }: SessionMatches,
  { query, titles }: { query: string; titles: ReadonlyMap<string, string> },
): string {
  const more = partial ? ['The index is still being built: older conversations may be missing.'] : []
  if (matches.length === 0) return [`Nothing was found for ${query}.`, ...more].join('\n')
  const blocks = matches.map((match) => toBlock(match, titles.get(match.session) ?? ''))
  return [...blocks, ...more].join('\n\n')
}

function toBlock({ session, header, seq, window }: SessionMatch, title: string): string {
  const match = window.find((item) => item.seq === seq)
  const day = (match?.ts || header.created_at).slice(0, 10)
  const head = [`[${session.slice(-ID_CHARS)}]`, day, title && inLine(title)].filter(Boolean).join(' ')
  return [head, ...window.map((item) => toLine(item, item === match))].join('\n')
}

function toLine({ role, snippet, toolName, truncated }: Excerpt, isMatch: boolean): string {
  const who = role === 'tool' ? toolName || role : role
  const text = inLine(snippet)
  const shown = isMatch ? text : takeStart(text, CONTEXT_CHARS)
  const isCut = truncated || shown.length < text.length
  return `${isMatch ? '>' : ' '} ${who}: ${shown}${isCut && !shown.endsWith('…') ? '…' : ''}`
}

function inLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** The number of characters at the end of an id that listings show. */
const ID_CHARS = 8
/** The most characters of a message next to the match. */
const CONTEXT_CHARS = 300
