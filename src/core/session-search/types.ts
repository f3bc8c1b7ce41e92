import type { SessionHeader } from '../storage/types.ts'

/** The kinds of documents; the position is the kind's number in the index. */
export const DOCUMENT_KINDS = ['user', 'assistant', 'tool_use', 'title', 'summary'] as const
/** The kind of a document. */
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

/** The weights by kind. Change them only with evidence from `npm run bench -- relevance` (ADR 0130). */
export const DOCUMENT_WEIGHTS: readonly number[] = [1.5, 1, 1.3, 2, 3]

/** The maximum size of a snippet in UTF-8 bytes. */
export const MAX_SNIPPET_BYTES = 1024
/** The maximum number of messages in a window, including the match. */
export const MAX_WINDOW_ITEMS = 16
/** The maximum number of sessions in a search result. */
export const MAX_SESSION_HITS = 20

/** A session search with its defaults applied. */
export interface SessionQuery {
  text: string
  /** The maximum number of sessions, at most MAX_SESSION_HITS. */
  limit: number
  /** Selects sessions by their header, which never changes. */
  accepts?: (session: string, header: SessionHeader) => boolean
  /** The start (inclusive) and end (exclusive) of the time range, in milliseconds since 1970. */
  since?: number
  until?: number
  /**
   * The number of messages before and after the match; the window is limited to MAX_WINDOW_ITEMS, including
   * the match.
   */
  contextBefore: number
  contextAfter: number
}

/** A session and its best match. */
export interface SessionMatch {
  session: string
  header: SessionHeader
  kind: DocumentKind
  /** The seq of the matching message; 0 for a title or summary. */
  seq: number
  score: number
  /** Oldest first. */
  window: readonly Excerpt[]
}

/** A message of a window, truncated to a snippet. */
export interface Excerpt {
  /** 0 for a title or summary. */
  seq: number
  role: 'user' | 'assistant' | 'tool' | 'title' | 'summary'
  /**
   * At most MAX_SNIPPET_BYTES bytes of UTF-8, cut between characters around the match; anything that looks
   * like a secret is masked.
   */
  snippet: string
  /** Whether the snippet is not the whole message. */
  truncated: boolean
  /** The tool of a tool result, or of the first call of a message; empty otherwise. */
  toolName: string
  /** The query words in the snippet: pairs of byte offsets, begin and end. */
  matches: readonly number[]
  /** ISO 8601. */
  ts: string
}

/** The result of a search. */
export interface SessionMatches {
  /** Best first. */
  matches: readonly SessionMatch[]
  /** Whether the index is still being built. */
  partial: boolean
}
