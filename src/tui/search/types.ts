/** What can be searched, in the order in which Tab goes round. */
export const SEARCH_SCOPES = ['prompts', 'conversations', 'memory'] as const
export type ChatSearchScope = (typeof SEARCH_SCOPES)[number]

/** A part of a text, and whether it is what was looked for. As it came, not yet sanitised. */
export interface Piece {
  text: string
  isMatch: boolean
}

/** Something that was found. */
export interface SearchResult {
  /** Says which: the text that was sent, the id of a session, the name of an entry. */
  value: string
  title: readonly Piece[]
  /** Beside the title, dim. */
  detail: string
  /** What was said there: the match first, then what came after it. */
  excerpts: readonly SearchExcerpt[]
}

export interface SearchExcerpt {
  /** Who said it; empty for a text that nobody said. */
  lead: string
  pieces: readonly Piece[]
}

/** What was found, best first, and for what. */
export interface SearchResults {
  scope: ChatSearchScope
  query: string
  items: readonly SearchResult[]
  /** What a person should know of it, as a sentence; empty for nothing. */
  note: string
  /** There may be more in a moment. */
  isPartial?: boolean
}
