import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeHome } from '../../scripts/sea/scenarios.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { type Daemon, startDaemon } from '../daemon.ts'
import { readMainThreadCpuMs, readRssMb } from '../processes.ts'
import { MESSAGES_PER_SESSION, makeCorpus, toSessionLines } from '../search/corpus.ts'
import { toDocumentTime } from '../search/engine.ts'
import { makeQueries } from '../search/queries.ts'
import { openSessionIndex, writeSessions } from '../session-home.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import { quantile } from '../statistics.ts'
import type { Column, Line, Mark } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { key: 'startMs', title: 'start to first answer, ms' },
  { key: 'completeMs', title: 'then to a complete search, ms' },
  { key: 'stallMs', title: 'longest ping meanwhile, ms', digits: 1 },
  { key: 'loopMs', title: 'longest stall of the loop, ms', digits: 1 },
  { key: 'turnCpuMs', title: 'most CPU of that thread meanwhile, ms', digits: 1 },
  { key: 'p50', title: 'search_sessions, p50 ms', digits: 2 },
  { key: 'p95', title: 'p95 ms', digits: 2 },
  { key: 'p99', title: 'p99 ms', digits: 2 },
  { key: 'max', title: 'max ms', digits: 2 },
  { key: 'rssMb', title: 'RSS then, MB' },
]

/** The limits of the first start, which reads every session. */
const REBUILD: Record<string, Mark> = {
  completeMs: { most: 10_000 },
  stallMs: { most: 20 },
  loopMs: { most: 20 },
  turnCpuMs: { most: 20 },
}
const LOADED: Record<string, Mark> = { completeMs: { most: 300 }, p99: { most: 10 } }

const NEVER = new AbortController().signal
const MOST = 100_000

/**
 * Measures a daemon on a home of 2,000 sessions, 100,000 messages: its first start, which reads them all, the
 * next one with a checkpoint, and searches including the context of every hit.
 */
export async function searchDaemon(setting: Setting): Promise<SuiteResult> {
  const { binary, cwd, scratch, model, rounds } = setting
  const place = { binary, cwd, env: await makeHome(join(scratch, 'searched'), model.url) }
  const home = place.env['CRABTALK_HOME']!
  const corpus = makeCorpus()
  const count = Math.ceil(Math.min(MOST, setting.messages) / MESSAGES_PER_SESSION)
  const numbers = Array.from({ length: count }, (_, number) => number)
  writeSessions(
    home,
    numbers.map((session) => ({
      at: toDocumentTime({ session, seq: 0 }),
      lines: toSessionLines(corpus.session(session)),
    })),
  )
  const texts = makeQueries(corpus, count).map(({ text }) => text)
  const lines: Line[] = [
    { name: 'in this process, nothing built', values: await rebuildHere(home), marks: REBUILD },
  ]
  await rm(join(home, 'index'), { recursive: true, force: true })
  lines.push({
    name: 'daemon, nothing built',
    values: await live(place, { texts, rounds: 1 }),
    marks: REBUILD,
  })
  lines.push({
    name: 'daemon, with a checkpoint',
    values: await live(place, { texts, rounds }),
    marks: LOADED,
  })
  return { columns: COLUMNS, lines }
}

/** Measures how long the event loop stalls while a worker reads, merges and saves. */
async function rebuildHere(home: string): Promise<Record<string, number>> {
  await using index = openSessionIndex(home)
  using delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  let [cpu, turnCpuMs] = [threadCpuMs(), 0]
  const timer = setInterval(() => {
    const now = threadCpuMs()
    turnCpuMs = Math.max(turnCpuMs, now - cpu)
    cpu = now
  }, 2)
  const start = performance.now()
  await index.settled(NEVER)
  const completeMs = performance.now() - start
  clearInterval(timer)
  return { completeMs, loopMs: delays.max / 1e6 - 1, turnCpuMs }
}

/** Returns the CPU time of this thread in milliseconds, which other load on the machine does not affect. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function live(
  place: Pick<Setting, 'binary' | 'cwd' | 'env'>,
  { texts, rounds }: { texts: readonly string[]; rounds: number },
): Promise<Record<string, number>> {
  await using daemon = await startDaemon(place)
  const start = performance.now()
  const building = new AbortController()
  const complete = async () => {
    while ((await search(daemon, texts[0]!)).partial) await sleep(LOOK_MS)
    building.abort()
    return performance.now() - start
  }
  const [completeMs, pings] = await Promise.all([complete(), pingUntil(daemon, building.signal)])
  const stallMs = Math.max(...pings.map(({ ms }) => ms))
  const turnCpuMs = Math.max(...pings.map(({ cpuMs }) => cpuMs))
  const times: number[] = []
  for (let round = -1; round < rounds; round++) {
    for (const text of texts) {
      const searchStart = performance.now()
      await search(daemon, text)
      if (round >= 0) times.push(performance.now() - searchStart)
    }
  }
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(times, share))
  const rssMb = readRssMb(daemon.pid)
  return {
    startMs: daemon.startMs,
    completeMs,
    stallMs,
    turnCpuMs,
    p50: p50!,
    p95: p95!,
    p99: p99!,
    max: Math.max(...times),
    rssMb,
  }
}

const LOOK_MS = 10

function search({ dispatch }: Daemon, query: string) {
  return request(dispatch, 'searchSessions', { query }, NEVER)
}

/** The time of a ping, and the CPU time that the daemon's main thread used meanwhile, in milliseconds. */
interface Ping {
  ms: number
  cpuMs: number
}

/** Sends one ping after another until the signal aborts. */
async function pingUntil({ dispatch, pid }: Daemon, signal: AbortSignal): Promise<Ping[]> {
  const pings: Ping[] = [{ ms: 0, cpuMs: 0 }]
  while (!signal.aborted) {
    const [start, cpu] = [performance.now(), readMainThreadCpuMs(pid)]
    await request(dispatch, 'ping', {}, NEVER)
    pings.push({ ms: performance.now() - start, cpuMs: readMainThreadCpuMs(pid) - cpu })
    await sleep(1)
  }
  return pings
}
