import { setImmediate as breathe } from 'node:timers/promises'
import { QueryWords } from '../search/terms/query-words.ts'
import type { GroupTerms } from '../search/text-index.ts'
import { B, K1, type TextHit } from '../search/types.ts'
import type { SessionFolder } from '../storage/session-folder.ts'
import type { FollowedSessions } from './followed-sessions.ts'
import {
  DOCUMENT_KINDS,
  DOCUMENT_WEIGHTS,
  MAX_SESSION_HITS,
  type SessionMatch,
  type SessionQuery,
} from './types.ts'
import { readWindow } from './window.ts'

/** The index, the session files behind it, and how hits are ordered. */
interface SearchedIndex {
  followed: FollowedSessions
  folder: SessionFolder
  reranks: boolean
}

/**
 * Returns the best matching sessions with the messages around each match. A session whose file differs from
 * what the index knows is left out, and is read again before the next search.
 */
export async function findMatches(
  searched: SearchedIndex,
  query: SessionQuery,
  signal: AbortSignal,
): Promise<SessionMatch[]> {
  const limit = Math.min(query.limit, MAX_SESSION_HITS)
  const hits = findHits(searched, query)
  const words = new QueryWords(query.text, searched.followed.text.characters)
  const matches: SessionMatch[] = []
  const atOnce = searched.followed.isBuilding ? AT_ONCE_WHILE_BUILDING : AT_ONCE
  while (matches.length < limit && hits.length > 0) {
    if (matches.length > 0) await breathe() // lets a daemon serve its streams meanwhile
    const next = hits.splice(0, Math.min(limit - matches.length, atOnce))
    const found = await Promise.all(next.map((hit) => toMatch(searched, { hit, query, words }, signal)))
    matches.push(...found.filter((match) => match !== undefined))
  }
  return matches
}

/** Returns one hit per session, best first; up to CANDIDATES, regardless of the query's limit. */
export function findHits(
  {
    followed: { text, table },
    reranks,
  }: { followed: Pick<FollowedSessions, 'text' | 'table'>; reranks: boolean },
  query: SessionQuery,
): TextHit[] {
  const { since, until, accepts } = query
  const hits = text.search({
    text: query.text,
    limit: CANDIDATES,
    weights: DOCUMENT_WEIGHTS,
    collapse: true,
    accepts(group) {
      const session = table.findByGroup(group)
      return session !== undefined && (accepts?.(session.id, session.header) ?? true)
    },
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  })
  if (!reranks || hits.length < 2) return hits
  const groups = hits.map(({ group }) => group)
  return rerank(hits, text.groupTerms(query.text, groups), text.length / table.size)
}

/** The number of matches whose messages are read in one turn of the event loop. */
const AT_ONCE = 5
/** Fewer, because the index takes a part of each of these turns as well. */
const AT_ONCE_WHILE_BUILDING = 2

/** The number of sessions that are reranked by all their messages. */
export const CANDIDATES = 200

async function toMatch(
  { followed, folder }: SearchedIndex,
  { hit, query, words }: { hit: TextHit; query: SessionQuery; words: QueryWords },
  signal: AbortSignal,
): Promise<SessionMatch | undefined> {
  const session = followed.table.findByGroup(hit.group)
  if (!session) return undefined // deleted meanwhile
  const kind = DOCUMENT_KINDS[hit.kind]!
  const { contextBefore, contextAfter } = query
  const place = { path: folder.file(session.id), kind: hit.kind, seq: hit.seq, offset: hit.offset }
  const window = await readWindow({ ...place, words, before: contextBefore, after: contextAfter }, signal)
  if (!window) {
    if (followed.table.findByGroup(hit.group)) followed.forget(session)
    return undefined
  }
  return { session: session.id, header: session.header, kind, seq: hit.seq, score: hit.score, window }
}

/**
 * Reorders hits, one per session, by also scoring the whole sessions: adds WHOLE_SHARE times the score of the
 * session as one document to that of its best message (ADR 0130 has the evidence).
 *
 * `averageLength` is the average length of a session, in terms. Ties keep their order.
 */
export function rerank(
  hits: readonly TextHit[],
  { idf, groups }: GroupTerms,
  averageLength: number,
): TextHit[] {
  const whole = new Map(
    groups.map(({ group, length, counts }) => [group, scoreWhole({ idf, counts, length, averageLength })]),
  )
  return hits
    .map((hit) => ({ ...hit, score: hit.score + WHOLE_SHARE * (whole.get(hit.group) ?? 0) }))
    .toSorted((a, b) => b.score - a.score)
}

const WHOLE_SHARE = 2

/** Returns the BM25 score of a session, with inverse frequencies counted over messages. */
function scoreWhole(session: {
  idf: readonly number[]
  counts: readonly number[]
  length: number
  averageLength: number
}): number {
  const { idf, counts, length, averageLength } = session
  const norm = K1 * (1 - B + (B * length) / averageLength)
  return counts.reduce((sum, count, at) => sum + (idf[at]! * (K1 + 1) * count) / (count + norm), 0)
}
