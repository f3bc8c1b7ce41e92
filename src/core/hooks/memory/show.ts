import { takeEnd, takeStart } from '../../base/truncate.ts'
import { toIsoTime } from '../../memory/time.ts'
import type { MemoryEntry } from '../../memory/types.ts'
import { matchesIn } from '../../search/terms/query-words.ts'

/** Formats an entry for a model, truncated to 24,000 characters. */
export function showEntry(entry: MemoryEntry): string {
  const { content } = entry
  return `${formatHeading(entry)}\n${content.length <= WHOLE_CHARS ? content : `${takeStart(content, WHOLE_CHARS)}…`}`
}

/** Formats a search result; of a long entry it shows the part around the first match. */
export function showMatch(entry: MemoryEntry, query: string): string {
  const { content } = entry
  if (content.length <= MATCH_CHARS) return `${formatHeading(entry)}\n${content}`
  const [first = 0] = matchesIn(content, query)
  const before = Buffer.from(content).subarray(0, first).toString()
  const lead = takeEnd(before, MATCH_CHARS / 4)
  const start = before.length - lead.length
  const excerpt = takeStart(content.slice(start), MATCH_CHARS)
  const more = start + excerpt.length < content.length ? '…' : ''
  return `${formatHeading(entry)} (a part; recall it by its name for all)\n${start > 0 ? '…' : ''}${excerpt}${more}`
}

const WHOLE_CHARS = 24_000
const MATCH_CHARS = 1500

function formatHeading({ name, kind, aliases, createdAt }: MemoryEntry): string {
  const others = aliases.length > 0 ? ` (also ${aliases.join(', ')})` : ''
  return `[${name}]${others} ${kind} of ${toIsoTime(createdAt).split('T')[0]}`
}
