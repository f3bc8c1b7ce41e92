import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { makeCorpus, toDocuments } from './corpus.ts'
import type { Engine, Found, OpenEngine } from './engine.ts'
import { openFts5 } from './fts5.ts'
import { openMiniSearch } from './minisearch.ts'
import { openOurs } from './ours.ts'
import { bruteForce } from './truth.ts'

// A standalone program for each engine, so that their memory and pauses are separate: engine-main.ts NAME
// SCRATCH, then Requests over the channel of fork(), one after another.
const ENGINES: Readonly<Record<string, OpenEngine>> = {
  crabtalk: openOurs,
  MiniSearch: openMiniSearch,
  'SQLite FTS5': openFts5,
}

/** A request to an engine. */
export type Request =
  | { do: 'build'; sessions: number; boundMs: number }
  | { do: 'append'; from: number; sessions: number }
  | { do: 'search'; texts: readonly string[]; sessionsOnly?: boolean }
  | { do: 'save' }
  | { do: 'load' }
  | { do: 'truth'; texts: readonly string[]; sessions: number }

/** The result of a `build` request. */
export interface Built {
  documents: number
  messages: number
  buildMs: number
  /** The longest time for one document, in milliseconds. */
  worstMs: number
  heapMb: number
  besideMb: number
  rssMb: number
  /** Whether it stopped before all sessions were added, because of its time or memory limit. */
  stopped: boolean
}

/** The times of each appended document, in milliseconds. */
export interface Appended {
  times: number[]
  cpuTimes: number[]
}

/** The times and results of each searched text. */
export interface Searched {
  times: number[]
  cpuTimes: number[]
  found: Found[][]
}

const [name = '', scratch = ''] = process.argv.slice(2)
const folders = {
  scratch: join(scratch, 'live'),
  saved: join(scratch, 'saved'),
  loaded: join(scratch, 'loaded'),
}
for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true })
const corpus = makeCorpus()
const engine: Engine = await ENGINES[name]!({ scratch: folders.scratch })

process.on('message', async (request: Request) => {
  process.send!(await answer(request))
})

async function answer(request: Request): Promise<unknown> {
  switch (request.do) {
    case 'build':
      return await build(request)
    case 'append':
      return await append(request)
    case 'search':
      return search(request)
    case 'save':
      return await save()
    case 'load':
      return await load()
    case 'truth':
      return bruteForce(corpus, request)
  }
}

/** The number of sessions that are generated at a time, before the measurement. */
const CHUNK = 20

async function build({ sessions, boundMs }: Extract<Request, { do: 'build' }>): Promise<Built> {
  const before = heapMb()
  let [documents, messages, buildMs, worstMs, number] = [0, 0, 0, 0, 0]
  while (number < sessions && buildMs < boundMs && rssMb() < MAX_RSS_MB) {
    const chunk = Array.from({ length: Math.min(CHUNK, sessions - number) }, () => [
      ...toDocuments(corpus.session(number++)),
    ]).flat()
    const start = performance.now()
    for (const document of chunk)
      worstMs = Math.max(
        worstMs,
        timed(() => engine.add(document)),
      )
    await breathe()
    buildMs += performance.now() - start
    documents += chunk.length
    messages += chunk.filter(({ seq }) => seq > 0).length
  }
  const start = performance.now()
  await engine.settle()
  buildMs += performance.now() - start
  const stopped = number < sessions
  return {
    documents,
    messages,
    buildMs,
    worstMs,
    heapMb: heapMb() - before,
    besideMb: engine.bytesBeside() / 1e6,
    rssMb: rssMb(),
    stopped,
  }
}

/** The memory limit: what a machine with little memory could spare. */
const MAX_RSS_MB = 6000

/** Appends messages as they arrive in practice: one at a time, yielding to the event loop in between. */
async function append({ from, sessions }: Extract<Request, { do: 'append' }>): Promise<Appended> {
  const [times, cpuTimes]: [number[], number[]] = [[], []]
  for (let number = from; number < from + sessions; number++) {
    for (const document of toDocuments(corpus.session(number))) {
      const cpu = threadCpuMs()
      times.push(timed(() => engine.add(document)))
      cpuTimes.push(threadCpuMs() - cpu)
      await breathe()
    }
  }
  return { times, cpuTimes }
}

function search({ texts, sessionsOnly }: Extract<Request, { do: 'search' }>): Searched {
  const searched: Searched = { times: [], cpuTimes: [], found: [] }
  for (const text of texts) {
    const [start, cpu] = [performance.now(), threadCpuMs()]
    if (sessionsOnly) engine.searchSessions?.(text)
    else searched.found.push(engine.search(text))
    searched.times.push(performance.now() - start)
    searched.cpuTimes.push(threadCpuMs() - cpu)
  }
  return searched
}

async function save(): Promise<{ mb: number; ms: number }> {
  const start = performance.now()
  const bytes = await engine.save(folders.saved)
  return { mb: bytes / 1e6, ms: performance.now() - start }
}

/** Opens the saved index as a second engine and searches it once. */
async function load(): Promise<{ ms: number }> {
  const start = performance.now()
  const second = await ENGINES[name]!({ scratch: folders.loaded, saved: folders.saved })
  second.search('anything at all')
  const ms = performance.now() - start
  await second.close()
  return { ms }
}

function timed(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** Returns the CPU time of this thread in milliseconds, which other load on the machine does not affect. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function heapMb(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

function rssMb(): number {
  return process.memoryUsage.rss() / 1e6
}
