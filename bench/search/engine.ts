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
  /** Resolves when all added documents are merged into their final place. */
  settle(): Promise<void>
  close(): Promise<void>
  /** Returns the best 20 documents. */
  search(text: string): Found[]
  /** Searches sessions as the product does; missing in engines without sessions. */
  searchSessions?(text: string): void
  /** Saves the index into a folder and returns its size in bytes. */
  save(folder: string): Promise<number>
  /** Returns the bytes held outside the JavaScript heap. */
  bytesBeside(): number
}

/** Opens an engine, empty or with the index saved in `saved`; `scratch` is an empty folder for its files. */
export type OpenEngine = (place: { scratch: string; saved?: string }) => Promise<Engine>

/** The number of hits of a search. */
export const LIMIT = 20

/** Returns the time of a document; each is later than those before it. */
export function toDocumentTime({ session, seq }: Pick<CorpusDocument, 'session' | 'seq'>): number {
  return Date.UTC(2025, 0, 1) + session * 60_000 + seq * 100
}
