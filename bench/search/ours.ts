import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { TextIndex } from '../../src/core/search/text-index.ts'
import { NO_OFFSET } from '../../src/core/search/types.ts'
import { openBackground } from '../../src/core/session-search/background/open-background.ts'
import { CANDIDATES, rerank } from '../../src/core/session-search/find-matches.ts'
import { DOCUMENT_WEIGHTS } from '../../src/core/session-search/types.ts'
import { SEARCH_WORKER } from '../../test/support/search-worker.ts'
import { LIMIT, type OpenEngine, toDocumentTime } from './engine.ts'

const NEVER = new AbortController().signal
/** Opens our index with its worker. */
export const openOurs: OpenEngine = async ({ saved }) => {
  const log = (level: string, text: string) => console.error(`${level}: ${text}`)
  const background = openBackground({ worker: async () => SEARCH_WORKER, log })
  const options = { background, weights: DOCUMENT_WEIGHTS }
  const index = saved === undefined ? new TextIndex(options) : await restore(saved)
  const sessions = new Set<number>()

  async function restore(from: string): Promise<TextIndex> {
    const parts = await background.load({ folder: from, maker: MAKER }, NEVER)
    if (!parts) throw new Error('Cannot measure: the checkpoint cannot be loaded')
    const [dictionary, state] = ['dictionary', 'state'].map(
      (role) => parts.find((one) => one.role === role)!.part,
    )
    const segments = parts.filter(({ role }) => role === 'segment').map(({ part }) => part)
    return TextIndex.restore({ dictionary: dictionary!, state: state!, segments }, options)
  }

  return {
    add({ session, seq, kind, text }) {
      sessions.add(session)
      index.add(
        { group: session, kind, seq, offset: NO_OFFSET, time: toDocumentTime({ session, seq }) },
        text,
      )
    },
    settle: () => index.settle(),
    close: async () => await background[Symbol.asyncDispose](),
    search: (text) =>
      index
        .search({ text, limit: LIMIT, weights: DOCUMENT_WEIGHTS })
        .map(({ group: session, seq, kind, score }) => ({ session, seq, kind, score })),
    searchSessions(text) {
      const hits = index.search({ text, limit: CANDIDATES, weights: DOCUMENT_WEIGHTS, collapse: true })
      const groups = hits.map(({ group }) => group)
      rerank(hits, index.groupTerms(text, groups), index.length / Math.max(1, sessions.size))
    },
    async save(to) {
      mkdirSync(to, { recursive: true })
      const { dictionary, segments, state } = await index.sealNow()
      const parts = [
        { role: 'dictionary', part: dictionary },
        { role: 'state', part: state },
        ...segments.map((part) => ({ role: 'segment', part })),
      ]
      await background.save({ folder: to, maker: MAKER }, parts, NEVER)
      return readdirSync(to).reduce((sum, file) => sum + statSync(join(to, file)).size, 0)
    },
    bytesBeside: () => index.stats.bytes,
  }
}

const MAKER = 'bench'
