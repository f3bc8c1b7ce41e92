import type { CorpusDocument } from './corpus.ts'

/** A document that was found; `score` is only comparable within an engine. */
export interface Found {
  session: number
  seq: number
  kind: number
  score: number
}

/** An index over the documents of the corpus, in this process. */
export interface Engine {
  add(document: CorpusDocument): void
  /** What was added is in its last place. */
  settle(): Promise<void>
  close(): Promise<void>
  /** The best 20 documents. */
  search(text: string): Found[]
  /** Sessions, as the product searches them; missing where an engine knows none. */
  searchSessions?(text: string): void
  /** Writes what was built into a folder; gives its size in bytes. */
  save(folder: string): Promise<number>
  /** Bytes that are no part of the JavaScript heap. */
  bytesBeside(): number
}

/** Opens an engine, with what was saved into `saved` or empty; `scratch` is an empty folder for what it keeps. */
export type OpenEngine = (place: { scratch: string; saved?: string }) => Promise<Engine>

/** Hits of a search. */
export const LIMIT = 20

/** When a document was said: each later than those before it. */
export function timeOf({ session, seq }: Pick<CorpusDocument, 'session' | 'seq'>): number {
  return Date.UTC(2025, 0, 1) + session * 60_000 + seq * 100
}
