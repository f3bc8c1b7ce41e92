import type { CallToolResult } from '@modelcontextprotocol/server'
import { collapseBlanks } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'
import type { SessionHit, SessionHits, WindowItem } from '../../core/protocol/crabtalk.generated.ts'
import { toJsonHits } from '../../core/protocol/session-hits-json.ts'

/** Formats search results, as compact text for a model and as values for programs. */
export function showSessions(found: SessionHits, query: string): CallToolResult {
  const blocks = found.hits.map(toBlock)
  const text = [
    ...(blocks.length === 0 ? [`No matches for ${query}.`] : blocks),
    ...(found.partial ? ['The index is still being built: older conversations may be missing.'] : []),
  ].join('\n\n')
  return { content: [{ type: 'text', text }], structuredContent: toJsonHits(found) }
}

function toBlock({ session, seq, window }: SessionHit): string {
  const match = window.find((item) => item.seq === seq)
  const day = (match?.ts || session?.updatedAt || '').slice(0, 10)
  const head = [`[${session?.id}]`, day, session?.agent, collapseBlanks(session?.title ?? '')]
    .filter(Boolean)
    .join(' ')
  return [head, ...window.map((item) => toLine(item, item === match))].join('\n')
}

function toLine({ role, snippet, toolName, truncated }: WindowItem, isMatch: boolean): string {
  const text = collapseBlanks(snippet)
  const excerpt = isMatch ? text : takeStart(text, CONTEXT_CHARS)
  const end = (truncated || excerpt.length < text.length) && !excerpt.endsWith('…') ? '…' : ''
  return `${isMatch ? '>' : ' '} ${role === 'tool' ? toolName || role : role}: ${excerpt}${end}`
}

/** The limit for each message around the match. */
const CONTEXT_CHARS = 300
