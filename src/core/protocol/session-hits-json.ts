import type { SessionHit, SessionHits, WindowItem } from './crabtalk.generated.ts'

/**
 * Converts session search results to JSON output; `matches` are pairs of byte offsets in `text`, begin and
 * end.
 */
export function toJsonHits({ hits, partial }: SessionHits) {
  return { partial, hits: hits.map(toJsonHit) }
}

function toJsonHit({ session, seq, score, window }: SessionHit) {
  return {
    id: session?.id ?? '',
    agent: session?.agent ?? '',
    sender: session?.sender ?? '',
    title: session?.title ?? '',
    preview: session?.preview ?? '',
    cwd: session?.cwd ?? '',
    created_at: session?.createdAt ?? '',
    updated_at: session?.updatedAt ?? '',
    messages: session?.messageCount ?? 0,
    seq,
    score,
    window: window.map(toJsonItem),
  }
}

function toJsonItem({ seq, role, ts, snippet, truncated, toolName, matches }: WindowItem) {
  const tool = toolName === '' ? {} : { tool: toolName }
  return { seq, role, ts, text: snippet, truncated, ...tool, matches: inPairs(matches) }
}

/** Converts `[1, 3, 5, 9]` to `[[1, 3], [5, 9]]`. */
export function inPairs(offsets: readonly number[]): [begin: number, end: number][] {
  return offsets.flatMap((begin, index) => (index % 2 === 0 ? [[begin, offsets[index + 1] ?? begin]] : []))
}
