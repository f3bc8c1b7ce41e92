import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../src/core/base/errors.ts'
import { ApprovalMode } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { FROM_SOURCE, startTestDaemon, type TestDaemon } from './daemon.ts'
import { type ModelServer, type Reply, startModelServer } from './model-server.ts'
import { livingWith } from './orphans.ts'
import { BINARY } from './run-binary.ts'
import { lastPrompt, readSessions, shortConfig } from './talk.ts'
import { type TemporaryHome, temporaryHome } from './temporary-home.ts'
import { until } from './until.ts'

/** A home whose daemon is killed under load repeatedly. */
export interface KillLoad extends AsyncDisposable {
  readonly home: TemporaryHome
  /** Loads a daemon, kills it, starts another and checks that nothing acknowledged is lost. */
  round(): Promise<RoundReport>
  /** Checks every session file, and that nothing else is left of all rounds. */
  finish(): Promise<void>
}

/** The result of one round. */
export interface RoundReport {
  /** Turns whose `start` a client saw. */
  started: number
  /** The number of those turns whose `end` it received. */
  ended: number
  /** Turns that were running when the daemon was killed. */
  cut: number
  /** The time from the kill until another daemon answered, in milliseconds. */
  backMs: number
}

/** The events that a client of a conversation received. */
interface ReceivedTurns {
  session: string
  /** User messages whose turn has started, and the answers of turns that ended. */
  said: string[]
}

const CONVERSATIONS = 50
/** Conversations in which a program runs when the daemon is killed. */
const WITH_TOOL = 3

/** Makes the home and its model server. */
export async function makeKillLoad(): Promise<KillLoad> {
  const home = await temporaryHome()
  const mark = `0.0${randomInt(2 ** 40)}` // in the environment of daemons, and an argument of programs
  const server = await startModelServer((request) => answerTo(lastPrompt(request), `sleep 977 ${mark}`))
  await home.write('config.toml', shortConfig(server.url))
  const receivedTurns = new Map<string, ReceivedTurns>()
  let rounds = 0
  return {
    home,
    round: () => round({ home, server, mark, told: receivedTurns }, ++rounds),
    async finish() {
      await checkFiles(home, receivedTurns)
      assert.deepEqual(await livingWith(mark), [], 'processes were left running')
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

interface Place {
  home: TemporaryHome
  server: ModelServer
  mark: string
  told: Map<string, ReceivedTurns>
}

async function round(place: Place, number: number): Promise<RoundReport> {
  const { mark, told } = place
  const before = { begun: countTurnStarts(told), ended: countEnded(told) }
  const stop = new AbortController()
  await using first = await start(place)
  const clients = senders().map((sender) => converse(first.dispatch, { sender, number, told }, stop.signal))
  await until('every conversation has begun', () => countStarted(told, number) === CONVERSATIONS)
  await until('programs of turns run', async () => (await findPrograms(mark)) === WITH_TOOL)
  await sleep(Math.random() * MAX_ANSWER_MS)
  stop.abort() // no further turn is requested
  first.kill('SIGKILL')
  const killedAt = performance.now()
  const cut = (await Promise.all(clients)).filter((wasCut) => wasCut).length
  await using second = await start(place)
  const backMs = performance.now() - killedAt
  await checkHistories(second.dispatch, told)
  await continueTurns(second.dispatch, told, number)
  await checkHistories(second.dispatch, told)
  await until('only the new daemon is left', async () =>
    (await livingWith(mark)).every(({ pid }) => pid === second.pid),
  )
  return {
    started: countTurnStarts(told) - before.begun,
    ended: countEnded(told) - before.ended,
    cut,
    backMs,
  }
}

async function start({ home, mark }: Place): Promise<TestDaemon> {
  const program = BINARY.endsWith('.ts') ? FROM_SOURCE : ([BINARY] as const)
  return await startTestDaemon(home, { program: [...program], env: { CRAB_KILL: mark } })
}

function senders(): string[] {
  return Array.from({ length: CONVERSATIONS }, (_, index) => `c${index}`)
}

async function findPrograms(mark: string): Promise<number> {
  return (await livingWith(mark)).filter(({ command }) => command.startsWith('sleep')).length
}

/** Runs one turn after another until the daemon is gone; returns whether a turn was running then. */
async function converse(
  dispatch: Dispatch,
  { sender, number, told }: { sender: string; number: number; told: Map<string, ReceivedTurns> },
  stop: AbortSignal,
): Promise<boolean> {
  const hasTool = Number(sender.slice(1)) < WITH_TOOL
  for (let turn = 1; !stop.aborted; turn++) {
    const content = `${sender} round ${number} turn ${turn}${hasTool ? ' tool' : ''}`
    const options = { mode: ApprovalMode.ALL }
    let text = ''
    try {
      const message = { agent: 'crab', sender, content, options }
      for await (const { event } of streamTurn(dispatch, message, NEVER)) {
        if (event?.$case === 'start') {
          const known = told.get(sender) ?? { session: event.value.sessionId, said: [] }
          assert.equal(event.value.sessionId, known.session)
          known.said.push(`user: ${content}`)
          told.set(sender, known)
        }
        if (event?.$case === 'chunk') text += event.value.content
        if (event?.$case !== 'end') continue
        assert.equal(event.value.error, '')
        assert.equal(text, toWords(content).join(''))
        told.get(sender)!.said.push(`assistant: ${text}`)
      }
    } catch (reason) {
      assert.ok(reason instanceof CrabError && reason.kind === 'unavailable', String(reason))
      return true
    }
  }
  return false
}

/** Runs the next turn of every conversation. */
async function continueTurns(
  dispatch: Dispatch,
  told: Map<string, ReceivedTurns>,
  number: number,
): Promise<void> {
  await Promise.all(
    [...told].map(async ([sender, known]) => {
      const content = `${sender} round ${number} go on`
      const answer = await request(dispatch, 'send', { agent: 'crab', sender, content }, NEVER)
      assert.deepEqual([answer.content, answer.sessionId], ['fine', known.session])
      known.said.push(`user: ${content}`, 'assistant: fine')
    }),
  )
}

/**
 * Checks that everything a client received is stored, in order; more may be stored that was never
 * acknowledged.
 */
async function checkHistories(dispatch: Dispatch, told: Map<string, ReceivedTurns>): Promise<void> {
  for (const [sender, { session, said }] of told) {
    const history = await request(dispatch, 'getConversationHistory', { filePath: session }, NEVER)
    assertHolds(
      sender,
      history.messages.map(({ role, content }) => `${role}: ${content}`),
      said,
    )
  }
}

async function checkFiles({ paths }: TemporaryHome, told: Map<string, ReceivedTurns>): Promise<void> {
  const sessions = await readSessions(paths.home)
  assert.equal(sessions.length, told.size)
  for (const { header, said } of sessions) {
    const sender = String(header['created_by'])
    assertHolds(sender, said, told.get(sender)!.said)
  }
}

function assertHolds(sender: string, stored: readonly string[], said: readonly string[]): void {
  let at = 0
  for (const line of said) {
    at = stored.indexOf(line, at) + 1
    assert.ok(at > 0, `${sender} lost "${line}": it has ${stored.join(' | ')}`)
  }
}

/** Answers a message with the number of words that it asks for, or with a call of a program that does not end. */
function answerTo(prompt: string, program: string): Reply {
  const last = prompt.split('\n').at(-1)! // unanswered messages arrive merged into one
  if (last.endsWith('go on')) return { parts: ['fine'] }
  if (last.endsWith('tool')) {
    return { parts: [{ call: 'c1', name: 'bash', args: JSON.stringify({ command: program }) }] }
  }
  return { parts: toWords(last), paceMs: PACE_MS }
}

/** Returns deterministic words for a message. */
function toWords(content: string): string[] {
  const sum = [...content].reduce((total, letter) => (total * 31 + letter.charCodeAt(0)) % 9973, 7)
  return Array.from({ length: 1 + (sum % MAX_WORDS) }, (_, index) => `${content}, word ${index}. `)
}

const MAX_WORDS = 20
const PACE_MS = 40
const MAX_ANSWER_MS = MAX_WORDS * PACE_MS

function countStarted(told: Map<string, ReceivedTurns>, number: number): number {
  const isThisRound = (line: string) => line.includes(` round ${number} `)
  return [...told.values()].filter(({ said }) => said.some(isThisRound)).length
}

function countTurnStarts(told: Map<string, ReceivedTurns>): number {
  return [...told.values()].flatMap(({ said }) => said).filter((line) => line.startsWith('user: ')).length
}

function countEnded(told: Map<string, ReceivedTurns>): number {
  return [...told.values()].flatMap(({ said }) => said).filter((line) => line.startsWith('assistant: '))
    .length
}

const NEVER = new AbortController().signal
