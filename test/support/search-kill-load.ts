import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../src/core/base/errors.ts'
import { type Dispatch, request } from '../../src/core/protocol/dispatch.ts'
import { CHECKPOINT_MANIFEST, decodeManifest } from '../../src/core/search/checkpoint/manifest.ts'
import { COMPILED, startTestDaemon } from './daemon.ts'
import { startModelServer } from './model-server.ts'
import { openSearchHome, type SearchHome } from './search-home.ts'
import { wordSource } from './search-words.ts'
import { shortConfig } from './talk.ts'
import { type TemporaryHome, temporaryHome } from './temporary-home.ts'

/** A home whose conversations and memory are written by processes that are killed meanwhile. */
export interface SearchKillLoad extends AsyncDisposable {
  /**
   * Runs WRITERS processes that write and save checkpoints continuously, kills them, and checks that nothing
   * they reported is lost.
   */
  round(): Promise<SearchRound>
  /** Does the same with a daemon, which must first find what was written before. */
  daemonRound(): Promise<SearchRound>
}

/** The result of one round. */
export interface SearchRound {
  /** The number of words written, and of acknowledged changes of the memory. */
  said: number
  changed: number
  /**
   * Whether there was a checkpoint to continue from, and whether the kill interrupted the saving of another
   * one.
   */
  hadCheckpoint: boolean
  wasSaving: boolean
}

/** A report of a process about what is durable now. */
type DurableReport =
  | { session: string; word: string }
  | { name: string; content: string }
  | { going: string }
  | { gone: string }
  | { searched: true }

/** Creates the home; `daemon` is the command of daemons. */
export async function makeSearchKillLoad(daemon: readonly [string, ...string[]]): Promise<SearchKillLoad> {
  const home = await temporaryHome()
  const server = await startModelServer(() => ({ parts: ['fine'] }))
  await home.write('config.toml', shortConfig(server.url))
  const ledger = new Ledger()
  let rounds = 0
  return {
    async round() {
      rounds += WRITERS
      return await check(home, ledger, (tell) => killPrograms(home, { first: rounds }, tell))
    },
    async daemonRound() {
      rounds += 1
      return await check(home, ledger, (tell) => killDaemon({ home, ledger, daemon, round: rounds }, tell))
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

/** Everything that was acknowledged. */
class Ledger {
  readonly sessions = new Map<string, string>()
  /** The contents of notes; `undefined` for one that may or may not exist. */
  readonly notes = new Map<string, string | undefined>()
  readonly gone = new Set<string>()
  said: string[] = []
  changed = 0

  add(told: DurableReport): void {
    if ('word' in told) {
      this.sessions.set(told.word, told.session)
      this.said.push(told.word)
    } else if ('content' in told) this.notes.set(told.name, told.content)
    else if ('going' in told) this.notes.set(told.going, undefined)
    else if ('gone' in told) this.gone.add(told.gone)
    if ('content' in told || 'gone' in told) this.changed += 1
  }

  /** Returns the words of this round, and some older ones. */
  sample(): string[] {
    const all = [...this.sessions.keys()]
    return [
      ...this.said,
      ...Array.from({ length: SAMPLE }, () => all[Math.floor(Math.random() * all.length)]!),
    ]
  }
}

const SAMPLE = 30
/**
 * The share of processes that are killed as soon as they start writing; the others have saved an index by then.
 */
const EARLY_SHARE = 0.3
const MAX_DELAY_MS = 500
/** The number of processes in a round; each is killed at its own moment. */
export const WRITERS = 3
const NEVER = new AbortController().signal

async function check(
  home: TemporaryHome,
  ledger: Ledger,
  run: (tell: (told: DurableReport) => void) => Promise<void>,
): Promise<SearchRound> {
  ledger.said = []
  ledger.changed = 0
  await run((told) => ledger.add(told))
  const files = await savedFiles(home)
  const warnings: string[] = []
  const log = (_: string, message: string) => warnings.push(message)
  await using place = openSearchHome(home.paths.home, { isDaemon: false, log })
  await checkSessions(place, ledger)
  await checkMemory(place, ledger)
  assert.deepEqual(warnings, [], 'the index is not what was written')
  return { said: ledger.said.length, changed: ledger.changed, ...files }
}

async function savedFiles({
  paths,
}: TemporaryHome): Promise<Pick<SearchRound, 'hadCheckpoint' | 'wasSaving'>> {
  const folder = join(paths.index, 'search')
  const names = await readdir(folder).catch(() => [])
  const text = await readFile(join(folder, CHECKPOINT_MANIFEST), 'utf8').catch(() => undefined)
  const manifest = text === undefined ? undefined : decodeManifest(text)
  assert.ok(text === undefined || manifest, 'the manifest is torn')
  const partCount = manifest ? manifest.parts.length + 1 : 0
  return { hadCheckpoint: partCount > 0, wasSaving: names.length > partCount }
}

async function checkSessions({ index, storage }: SearchHome, ledger: Ledger): Promise<void> {
  for (const word of ledger.sample().filter(Boolean)) {
    const query = { text: word, limit: 3, contextBefore: 0, contextAfter: 0 }
    const [first, ...others] = (await index.search(query, NEVER)).matches
    assert.equal(first?.session, ledger.sessions.get(word), `"${word}" is not found`)
    assert.deepEqual(others, [], `"${word}" is found twice`)
    assert.ok(
      first?.window.some(({ snippet }) => snippet.includes(word)),
      `"${word}" is not shown`,
    )
  }
  for (const session of new Set(ledger.said.map((word) => ledger.sessions.get(word)!))) {
    assert.deepEqual((await storage.read(session)).warnings, [])
  }
}

async function checkMemory({ memory }: SearchHome, ledger: Ledger): Promise<void> {
  const { entries } = await memory.read('crab')
  const contents = new Map(entries.map(({ name, content }) => [name, content]))
  for (const [name, content] of ledger.notes) {
    if (content === undefined) continue
    const isOf = content === 'first' ? ['first', 'second'] : [content] // the next change may have been stored in time
    assert.ok(isOf.includes(contents.get(name) ?? ''), `${name} says ${contents.get(name)}, not ${content}`)
  }
  for (const name of ledger.gone) assert.ok(!contents.has(name), `${name} is back`)
  const [last] = [...ledger.notes].filter(([, content]) => content).slice(-1)
  if (!last) return
  const [best] = await memory.search('crab', { query: last[0], limit: 1 })
  assert.equal(best?.entry.name, last[0])
}

/** Runs several processes concurrently: one of them may save, and the others write and search. */
async function killPrograms(
  home: TemporaryHome,
  { first }: { first: number },
  tell: (told: DurableReport) => void,
): Promise<void> {
  const numbers = Array.from({ length: WRITERS }, (_, index) => first - index)
  await Promise.all(numbers.map((number) => killProgram(home, number, tell)))
}

async function killProgram(
  home: TemporaryHome,
  number: number,
  tell: (told: DurableReport) => void,
): Promise<void> {
  const program = resolve(import.meta.dirname, 'search-kill-program.ts')
  const args = ['--disable-warning=ExperimentalWarning', program, home.paths.home, String(number)]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...COMPILED },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const lines = createInterface(child.stdout)
  const isEarly = Math.random() < EARLY_SHARE
  let kill: NodeJS.Timeout | undefined
  for await (const line of lines) {
    if (!line.endsWith('}')) break // torn by the kill
    const report = JSON.parse(line) as DurableReport
    tell(report)
    if (kill === undefined && (isEarly || 'searched' in report)) {
      kill = setTimeout(() => child.kill('SIGKILL'), Math.random() * MAX_DELAY_MS)
    }
  }
  const [code, signal] = await ended
  assert.equal(signal, 'SIGKILL', `the program ended with ${code}`)
}

interface DaemonToKill {
  home: TemporaryHome
  ledger: Ledger
  daemon: readonly [string, ...string[]]
  round: number
}

async function killDaemon(
  { home, ledger, daemon: program, round }: DaemonToKill,
  tell: (told: DurableReport) => void,
): Promise<void> {
  await using daemon = await startTestDaemon(home, { program })
  await askDaemon(daemon.dispatch, ledger)
  const newWord = wordSource(round)
  const clients = [
    untilGone(() => sayTo(daemon.dispatch, newWord(), tell)),
    untilGone(() => noteTo(daemon.dispatch, `note ${newWord()}`, tell)),
  ]
  await sleep(Math.random() * MAX_DELAY_MS)
  daemon.kill('SIGKILL')
  await Promise.all(clients)
}

/** Checks that everything written before is also found through the daemon. */
async function askDaemon(dispatch: Dispatch, ledger: Ledger): Promise<void> {
  for (const word of ledger.sample().filter(Boolean)) {
    const hits = await findHits(dispatch, word)
    assert.equal(hits[0]?.session?.id, ledger.sessions.get(word), `the daemon does not find "${word}"`)
  }
  const [last] = [...ledger.notes].filter(([, content]) => content).slice(-1)
  if (!last) return
  const { entries } = await request(dispatch, 'listMemory', { agent: '', name: last[0] }, NEVER)
  assert.equal(entries[0]?.name, last[0])
}

/** Returns the hits of a search when the daemon has indexed everything. */
async function findHits(dispatch: Dispatch, query: string) {
  for (;;) {
    const { hits, partial } = await request(dispatch, 'searchSessions', { query, limit: 3 }, NEVER)
    if (!partial) return hits
  }
}

/** Repeats an action until the daemon is gone. */
async function untilGone(act: () => Promise<void>): Promise<void> {
  try {
    for (;;) await act()
  } catch (reason) {
    if (!(reason instanceof CrabError && reason.kind === 'unavailable')) throw reason
  }
}

async function sayTo(dispatch: Dispatch, word: string, tell: (told: DurableReport) => void): Promise<void> {
  const message = { agent: 'crab', sender: 'me', content: `it goes on with ${word}` }
  const { sessionId } = await request(dispatch, 'send', message, NEVER)
  tell({ session: sessionId, word })
}

async function noteTo(dispatch: Dispatch, name: string, tell: (told: DurableReport) => void): Promise<void> {
  const value = { name, content: 'second', aliases: [] }
  await request(dispatch, 'memoryOp', { agent: 'crab', op: { $case: 'remember', value } }, NEVER)
  tell({ name, content: 'second' })
}
