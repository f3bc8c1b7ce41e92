import type { SessionHeader } from '../storage/types.ts'

/** Kinds of documents, by their numbers in the index. */
export const DOCUMENT_KINDS = ['user', 'assistant', 'tool_use', 'title', 'summary'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

/** Weights by kind (RFC 0185); others only with evidence. */
export const DOCUMENT_WEIGHTS: readonly number[] = [1.5, 1, 1.3, 2, 3]

/** Bounds of an answer (RFC 0185). */
export const MAX_SNIPPET_BYTES = 1024
export const MAX_WINDOW_ITEMS = 16
export const MAX_SESSION_HITS = 20

/** What is searched for. */
export interface SessionQuery {
  text: string
  /** Sessions, at most MAX_SESSION_HITS. */
  limit: number
  /** Which sessions are searched: by what their first lines say, which never changes. */
  accepts?: (session: string, header: SessionHeader) => boolean
  /** Times of the message, milliseconds since 1970: from, until (not included). */
  since?: number
  until?: number
  /** Messages around the match; the window is cut to MAX_WINDOW_ITEMS with the match in it. */
  contextBefore: number
  contextAfter: number
}

/** A session with what matches best in it. */
export interface SessionMatch {
  session: string
  header: SessionHeader
  kind: DocumentKind
  /** Of the matching message; 0 for a title or summary. */
  seq: number
  score: number
  /** Oldest first. */
  window: readonly Excerpt[]
}

/** A message of a window, with bounds. */
export interface Excerpt {
  /** 0 for a title or summary. */
  seq: number
  role: 'user' | 'assistant' | 'tool' | 'title' | 'summary'
  /** At most MAX_SNIPPET_BYTES bytes of UTF-8, cut at characters around what matches; what looks like a secret is masked. */
  snippet: string
  /** It is not the whole message. */
  truncated: boolean
  /** Of a tool result, or of the first call of a message; empty otherwise. */
  toolName: string
  /** Pairs of byte offsets in the snippet: where words of the query begin and end. */
  matches: readonly number[]
  /** ISO 8601. */
  ts: string
}

/** What a search finds. */
export interface SessionMatches {
  /** Best first. */
  matches: readonly SessionMatch[]
  /** The index is still being built. */
  partial: boolean
}
