import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { documentsOf, makeCorpus } from './corpus.ts'
import type { Engine, Found, OpenEngine } from './engine.ts'
import { openFts5 } from './fts5.ts'
import { openMiniSearch } from './minisearch.ts'
import { openOurs } from './ours.ts'
import { bruteForce } from './truth.ts'

// A program of its own for each engine, so that their memory and their pauses are their own:
// engine-main.ts NAME SCRATCH, and then Requests over the channel of fork(), one after another.
const ENGINES: Readonly<Record<string, OpenEngine>> = {
  crabtalk: openOurs,
  MiniSearch: openMiniSearch,
  'SQLite FTS5': openFts5,
}

/** What is asked of an engine; each is answered by its Answer. */
export type Request =
  | { do: 'build'; sessions: number; boundMs: number }
  | { do: 'append'; from: number; sessions: number }
  | { do: 'search'; texts: readonly string[]; sessionsOnly?: boolean }
  | { do: 'save' }
  | { do: 'load' }
  | { do: 'truth'; texts: readonly string[]; sessions: number }

/** Of building. */
export interface Built {
  documents: number
  messages: number
  buildMs: number
  /** The longest that one document took. */
  worstMs: number
  heapMb: number
  besideMb: number
  rssMb: number
  /** It did not finish within its bound. */
  stopped: boolean
}

/** Of each document that was appended, milliseconds. */
export interface Appended {
  times: number[]
  cpuTimes: number[]
}

/** Of searching, a text each. */
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

/** Sessions are made beforehand, some at a time: making them is not measured. */
const CHUNK = 20

async function build({ sessions, boundMs }: Extract<Request, { do: 'build' }>): Promise<Built> {
  const before = heapMb()
  let [documents, messages, buildMs, worstMs, number] = [0, 0, 0, 0, 0]
  while (number < sessions && buildMs < boundMs && rssMb() < MOST_RSS_MB) {
    const chunk = Array.from({ length: Math.min(CHUNK, sessions - number) }, () => [
      ...documentsOf(corpus.session(number++)),
    ]).flat()
    const begun = performance.now()
    for (const document of chunk)
      worstMs = Math.max(
        worstMs,
        timed(() => engine.add(document)),
      )
    await breathe()
    buildMs += performance.now() - begun
    documents += chunk.length
    messages += chunk.filter(({ seq }) => seq > 0).length
  }
  const begun = performance.now()
  await engine.settle()
  buildMs += performance.now() - begun
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

/** What a machine with little memory could spare. */
const MOST_RSS_MB = 6000

/** Messages as they are said: one after another, with a turn of the event loop between. */
async function append({ from, sessions }: Extract<Request, { do: 'append' }>): Promise<Appended> {
  const [times, cpuTimes]: [number[], number[]] = [[], []]
  for (let number = from; number < from + sessions; number++) {
    for (const document of documentsOf(corpus.session(number))) {
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
    const [begun, cpu] = [performance.now(), threadCpuMs()]
    if (sessionsOnly) engine.searchSessions?.(text)
    else searched.found.push(engine.search(text))
    searched.times.push(performance.now() - begun)
    searched.cpuTimes.push(threadCpuMs() - cpu)
  }
  return searched
}

async function save(): Promise<{ mb: number; ms: number }> {
  const begun = performance.now()
  const bytes = await engine.save(folders.saved)
  return { mb: bytes / 1e6, ms: performance.now() - begun }
}

/** Opens what was saved as a second one, and asks it something. */
async function load(): Promise<{ ms: number }> {
  const begun = performance.now()
  const second = await ENGINES[name]!({ scratch: folders.loaded, saved: folders.saved })
  second.search('anything at all')
  const ms = performance.now() - begun
  await second.close()
  return { ms }
}

function timed(work: () => void): number {
  const begun = performance.now()
  work()
  return performance.now() - begun
}

/** Of this thread alone, milliseconds: what a busy machine does not change. */
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
