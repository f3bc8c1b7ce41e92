import { MESSAGES_PER_SESSION, makeCorpus } from '../search/corpus.ts'
import type { Found } from '../search/engine.ts'
import type { Built } from '../search/engine-main.ts'
import { type EngineProcess, startEngine } from '../search/engine-process.ts'
import { type BenchQuery, makeQueries } from '../search/queries.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import { quantile } from '../statistics.ts'
import type { Column, Line, Mark } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { key: 'messages', title: 'messages' },
  { key: 'p50', title: 'query, p50 ms', digits: 2 },
  { key: 'p95', title: 'p95 ms', digits: 2 },
  { key: 'p99', title: 'p99 ms', digits: 2 },
  { key: 'max', title: 'max ms', digits: 2 },
  { key: 'cpuP99', title: 'p99, CPU ms', digits: 2 },
  { key: 'quietP99', title: 'p99 of the fastest of each query, ms', digits: 2 },
  { key: 'sessionsP99', title: 'best messages of sessions, p99 ms', digits: 2 },
  { key: 'differing', title: 'queries that differ from brute force' },
  { key: 'appendP50', title: 'append, p50 ms', digits: 3 },
  { key: 'appendP99', title: 'p99 ms', digits: 3 },
  { key: 'appendMax', title: 'max ms', digits: 2 },
  { key: 'appendCpuP99', title: 'p99, CPU ms', digits: 3 },
  { key: 'buildMs', title: 'build, ms' },
  { key: 'worstMs', title: 'longest append of it, ms', digits: 1 },
  { key: 'heapMb', title: 'heap growth, MB', digits: 1 },
  { key: 'besideMb', title: 'arrays beside, MB' },
  { key: 'savedMb', title: 'checkpoint, MB' },
  { key: 'saveMs', title: 'written, ms' },
  { key: 'loadMs', title: 'loaded and asked, ms' },
]
const KIND_COLUMNS: readonly Column[] = [
  { key: 'p50', title: 'p50 ms', digits: 2 },
  { key: 'p95', title: 'p95 ms', digits: 2 },
  { key: 'p99', title: 'p99 ms', digits: 2 },
  { key: 'max', title: 'max ms', digits: 2 },
]

/** The limits of every size. */
const APPEND: Record<string, Mark> = {
  appendP50: { most: 0.05 },
  appendP99: { most: 0.5 },
  heapMb: { most: 10 },
  differing: { most: 0 },
}
const MARKS: Readonly<Record<number, Record<string, Mark>>> = {
  100000: { ...APPEND, p99: { most: 5 }, loadMs: { most: 300 } },
  1000000: { ...APPEND, p99: { most: 25 }, loadMs: { most: 2000 } },
}

const ENGINES = ['crabtalk', 'SQLite FTS5', 'MiniSearch']
/** The time limit of a build, in milliseconds. An engine that exceeds it is stopped and not searched. */
const BUILD_MS = 120_000
/**
 * The total search time, in milliseconds, after which an engine takes no further part, once every query was
 * run.
 */
const ANSWER_MS = 60_000
/** The number of sessions that are appended message by message. */
const APPENDED = 60

/** Measures the index beside others in one run, with 100,000 and 1,000,000 messages, limited by `messages`. */
export async function search(setting: Setting): Promise<SuiteResult> {
  const sizes = Object.keys(MARKS)
    .map(Number)
    .filter((size) => size <= setting.messages)
  const [first, ...others] = sizes.length > 0 ? sizes : [setting.messages]
  const tables: Record<string, SuiteResult> = {}
  for (const size of others) {
    const { also = {}, ...result } = await measure(setting, size)
    tables[String(size)] = result
    for (const [name, table] of Object.entries(also)) tables[name] = table
  }
  const { also, ...result } = await measure(setting, first!)
  return { ...result, also: { ...also, ...tables } }
}

async function measure({ rounds, scratch }: Setting, messages: number): Promise<SuiteResult> {
  const sessions = Math.ceil(messages / MESSAGES_PER_SESSION)
  const queries = makeQueries(makeCorpus(), sessions)
  await using stack = new AsyncDisposableStack()
  const takers: Taker[] = []
  const stopped: Line[] = []
  for (const name of ENGINES) {
    const engine = stack.use(startEngine(name, `${scratch}/search-${messages}`))
    const built = await engine.ask({ do: 'build', sessions, boundMs: BUILD_MS })
    if (built.stopped)
      stopped.push({ name: `${name}, stopped after ${BUILD_MS / 1000} s`, values: builtValues(built) })
    else
      takers.push({
        engine,
        built,
        times: queries.map(() => []),
        cpuTimes: [],
        sessionTimes: [],
        spentMs: 0,
        found: [],
      })
    if (built.stopped) await engine[Symbol.asyncDispose]()
  }
  for (let round = -1; round < rounds; round++) await ask(takers, queries, round >= 0)
  const truth = await takers[0]!.engine.ask({ do: 'truth', texts: queries.map(({ text }) => text), sessions })
  const lines: Line[] = []
  for (const taker of takers) lines.push(await toLine(taker, { sessions, truth, messages }))
  const kinds = byKind(takers, queries)
  return {
    columns: COLUMNS,
    lines: [...lines, ...stopped],
    also: { [`${messages} by kind of query`]: kinds },
  }
}

interface Taker {
  engine: EngineProcess
  built: Built
  /** The times of each query, by round. */
  times: number[][]
  cpuTimes: number[]
  sessionTimes: number[]
  spentMs: number
  /** The results by query. */
  found: Found[][]
}

/** Runs every kind of query on every engine in turn, so that other load on the machine affects all alike. */
async function ask(takers: readonly Taker[], queries: readonly BenchQuery[], counts: boolean): Promise<void> {
  for (const [, alike] of Map.groupBy(queries.entries(), ([, { kind }]) => kind)) {
    const texts = alike.map(([, { text }]) => text)
    for (const taker of takers) {
      const isKnown = taker.times[alike[0]![0]]!.length > 0
      if (isKnown && taker.spentMs > ANSWER_MS) continue
      const { times, cpuTimes, found } = await taker.engine.ask({ do: 'search', texts })
      if (counts) taker.spentMs += times.reduce((sum, time) => sum + time, 0)
      if (counts) taker.cpuTimes.push(...cpuTimes)
      for (const [at, [query]] of alike.entries()) {
        taker.found[query] = found[at]!
        if (counts) taker.times[query]!.push(times[at]!)
      }
    }
    const [ours] = takers
    const { times } = await ours!.engine.ask({ do: 'search', texts, sessionsOnly: true })
    if (counts) ours!.sessionTimes.push(...times)
  }
}

async function toLine(
  taker: Taker,
  { sessions, truth, messages }: { sessions: number; truth: Found[][]; messages: number },
): Promise<Line> {
  const { engine, built, times, cpuTimes, found, sessionTimes } = taker
  const isOurs = engine.name === ENGINES[0]
  const differing = truth.filter(
    (expected, query) => JSON.stringify(expected) !== JSON.stringify(found[query]),
  )
  const appended = await engine.ask({ do: 'append', from: sessions, sessions: APPENDED })
  const { mb: savedMb, ms: saveMs } = await engine.ask({ do: 'save' })
  const { ms: loadMs } = await engine.ask({ do: 'load' })
  const values = {
    ...builtValues(built),
    ...spread(times.flat()),
    cpuP99: quantile(cpuTimes, 0.99),
    quietP99: quantile(
      times.map((own) => Math.min(...own)),
      0.99,
    ),
    ...(isOurs && { differing: differing.length, sessionsP99: quantile(sessionTimes, 0.99) }),
    ...{
      appendP50: quantile(appended.times, 0.5),
      appendP99: quantile(appended.times, 0.99),
      appendMax: Math.max(...appended.times),
    },
    appendCpuP99: quantile(appended.cpuTimes, 0.99),
    ...{ savedMb, saveMs, loadMs },
  }
  return { name: engine.name, values, marks: isOurs ? (MARKS[messages] ?? APPEND) : undefined }
}

function builtValues({ messages, buildMs, worstMs, heapMb, besideMb }: Built): Record<string, number> {
  return { messages, buildMs, worstMs, heapMb, besideMb }
}

function spread(times: readonly number[]): Record<string, number> {
  return {
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    p99: quantile(times, 0.99),
    max: Math.max(...times),
  }
}

function byKind(takers: readonly Taker[], queries: readonly BenchQuery[]): SuiteResult {
  const kinds = [...new Set(queries.map(({ kind }) => kind))]
  const lines = kinds.flatMap((kind) =>
    takers.map(({ engine, times }) => ({
      name: `${kind}: ${engine.name}`,
      values: spread(times.filter((_, query) => queries[query]!.kind === kind).flat()),
    })),
  )
  return { columns: KIND_COLUMNS, lines }
}
