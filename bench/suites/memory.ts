import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../src/core/base/files.ts'
import { SqliteLeases } from '../../src/core/lease/sqlite-leases.ts'
import { MemoryStore } from '../../src/core/memory/memory-store.ts'
import { rememberOp } from '../../src/core/memory/remember.ts'
import type { MemoryEntry } from '../../src/core/memory/types.ts'
import { type Corpus, makeCorpus } from '../search/corpus.ts'
import { makeQueries } from '../search/queries.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import { quantile } from '../statistics.ts'
import type { Column, Line, Mark } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { key: 'fileMb', title: 'file, MB', digits: 2 },
  { key: 'p50', title: 'acknowledged write, p50 ms', digits: 2 },
  { key: 'p99', title: 'p99 ms', digits: 2 },
  { key: 'max', title: 'max ms', digits: 2 },
  { key: 'firstMs', title: 'read, indexed and searched, ms', digits: 1 },
  { key: 'nextMs', title: 'recall after a write, p50 ms', digits: 2 },
  { key: 'recallP50', title: 'recall, p50 ms', digits: 3 },
  { key: 'recallP99', title: 'recall, p99 ms', digits: 3 },
  { key: 'recallMax', title: 'recall, max ms', digits: 2 },
]

/** The limits by number of entries. */
const MARKS: Readonly<Record<number, Record<string, Mark>>> = {
  1000: { p50: { most: 10 } },
  10000: { p50: { most: 10 }, recallP99: { most: 1 } },
}
const AGENT = 'crab'
const WRITES_A_ROUND = 8
const HITS = 10
const NEVER = new AbortController().signal

/**
 * Measures remembering and recalling with 1,000 and 10,000 entries, beside a plain file of the same size that
 * is replaced as durably.
 */
export async function memory({ scratch, rounds }: Pick<Setting, 'scratch' | 'rounds'>): Promise<SuiteResult> {
  const corpus = makeCorpus()
  const lines: Line[] = []
  for (const count of Object.keys(MARKS).map(Number)) {
    const folder = join(scratch, `memory-${count}`)
    mkdirSync(folder, { recursive: true })
    lines.push(...(await measure(folder, { count, corpus, rounds })))
  }
  return { columns: COLUMNS, lines }
}

async function measure(
  folder: string,
  { count, corpus, rounds }: { count: number; corpus: Corpus; rounds: number },
): Promise<Line[]> {
  await using leases = new SqliteLeases({ database: join(folder, 'leases.db'), proc: join(folder, 'proc') })
  const options = { folder, lock: leases.take.bind(leases), now: Date.now }
  const store = new MemoryStore(options)
  await store.replace(AGENT, makeEntries(corpus, count), NEVER)
  const file = join(folder, `${AGENT}.db`)
  const queries = makeQueries(corpus, Math.ceil(count / 20)).map(({ text }) => text)
  const fresh = new MemoryStore(options)
  const firstMs = await timed(() => recall(fresh, queries[0]!))
  const [floor, writes, next, recalls]: [number[], number[], number[], number[]] = [[], [], [], []]
  for (let round = -1; round < rounds; round++) {
    for (let write = 0; write < WRITES_A_ROUND; write++) {
      const at = (round + 1) * WRITES_A_ROUND + write
      const bytes = readFileSync(file)
      const plain = await timed(() => replaceFile(join(folder, 'plain'), bytes))
      const wrote = await timed(() => store.apply(AGENT, remember(corpus, count, at), NEVER))
      const found = await timed(() => recall(store, queries[at % queries.length]!))
      if (round < 0) continue
      floor.push(plain)
      writes.push(wrote)
      next.push(found)
    }
    for (const query of queries) {
      const time = await timed(() => recall(store, query))
      if (round >= 0) recalls.push(time)
    }
  }
  const fileMb = statSync(file).size / 1e6
  const recalled = {
    recallP50: quantile(recalls, 0.5),
    recallP99: quantile(recalls, 0.99),
    recallMax: Math.max(...recalls),
  }
  const values = { fileMb, ...spread(writes), firstMs, nextMs: quantile(next, 0.5), ...recalled }
  return [
    { name: `a file of that size, ${count} entries`, values: { fileMb, ...spread(floor) } },
    { name: `crabtalk, ${count} entries`, values, marks: MARKS[count] },
  ]
}

/** Creates notes of at most 400 characters; one entry in ten is the archive of a conversation. */
function makeEntries(corpus: Corpus, count: number): MemoryEntry[] {
  return Array.from({ length: count }, (_, at) => {
    const { title, messages, summary = '' } = corpus.session(Math.floor(at / 20) * 5)
    const isArchive = at % 10 === 9
    const kind = isArchive ? 'archive' : 'note'
    const content = isArchive ? summary : messages[(at % 20) * 3]!.text.slice(0, 400)
    return {
      id: BigInt(at + 1),
      createdAt: 1_750_000_000n + BigInt(at),
      kind,
      name: `${title} ${at}`,
      content,
      aliases: [`alias ${at}`],
    }
  })
}

/** Creates, in turn, a new note, and new words for an existing one. */
function remember(corpus: Corpus, count: number, at: number): ReturnType<typeof rememberOp> {
  const content = corpus.session(count + at).messages[0]!.text
  const name = at % 2 === 0 ? `new note ${at}` : `alias ${(at * 17) % count}`
  // archives cannot be changed
  const free = name.endsWith('9') ? `new note ${at}` : name
  return rememberOp({ name: free, content, aliases: [], now: Date.now() })
}

function recall(store: MemoryStore, query: string): Promise<unknown> {
  return store.search(AGENT, { query, limit: HITS })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function spread(times: readonly number[]): Record<string, number> {
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), max: Math.max(...times) }
}
