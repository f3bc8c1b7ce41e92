import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { B, K1 } from '../../src/core/search/types.ts'
import { DOCUMENT_WEIGHTS } from '../../src/core/session-search/types.ts'
import { LIMIT, type OpenEngine } from './engine.ts'

interface Stored {
  id: number
  text: string
  session: number
  seq: number
  kind: number
}

const OPTIONS = {
  fields: ['text'],
  storeFields: ['session', 'seq', 'kind'],
  searchOptions: {
    bm25: { k: K1, b: B, d: 0 },
    boostDocument: (_: unknown, __: string, stored?: Record<string, unknown>) =>
      DOCUMENT_WEIGHTS[Number(stored?.['kind'])]!,
  },
}

/** Opens MiniSearch with its own tokenizer and our BM25 parameters and weights. */
export const openMiniSearch: OpenEngine = async ({ saved }) => {
  const index =
    saved === undefined
      ? new MiniSearch<Stored>(OPTIONS)
      : MiniSearch.loadJSON<Stored>(readFileSync(fileIn(saved), 'utf8'), OPTIONS)
  let next = 0
  return {
    add: (document) => index.add({ id: next++, ...document }),
    settle: async () => {},
    close: async () => {},
    search: (text) =>
      index
        .search(text)
        .slice(0, LIMIT)
        .map(({ session, seq, kind, score }) => ({ session, seq, kind, score })),
    async save(folder) {
      const json = JSON.stringify(index)
      writeFileSync(fileIn(folder), json)
      return Buffer.byteLength(json)
    },
    bytesBeside: () => 0,
  }
}

function fileIn(folder: string): string {
  return join(folder, 'minisearch.json')
}
