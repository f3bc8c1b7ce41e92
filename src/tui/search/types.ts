/** The scopes of a search, in the order in which Tab cycles through them. */
export const SEARCH_SCOPES = ['prompts', 'conversations', 'memory'] as const
export type ChatSearchScope = (typeof SEARCH_SCOPES)[number]

/** A part of a text, and whether it matches the query. Not sanitized yet. */
export interface Piece {
  text: string
  isMatch: boolean
}

/** One result of a search. */
export interface SearchResult {
  /** The identity of the result: the text that was sent, the id of a session, or the name of an entry. */
  value: string
  title: readonly Piece[]
  /** Shown beside the title, dim. */
  detail: string
  /** Excerpts: the match first, then the messages after it. */
  excerpts: readonly SearchExcerpt[]
}

/** A text of a result, with the matches in it. */
export interface SearchExcerpt {
  /** The author of the text; empty for a memory entry. */
  lead: string
  pieces: readonly Piece[]
}

/** The results of a query, best first. */
export interface SearchResults {
  scope: ChatSearchScope
  query: string
  items: readonly SearchResult[]
  /** A sentence about the results for the user; empty for none. */
  note: string
  /** Whether more results may follow in a moment. */
  isPartial?: boolean
}
