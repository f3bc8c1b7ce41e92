import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../src/core/protocol/dispatch.ts'
import { FROM_SOURCE, startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { startModelServer } from '../support/model-server.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { BINARY, HAS_DAEMONS } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { lastPrompt, makeTalk, readSessions, shortConfig } from '../support/talk.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const NEVER = new AbortController().signal
const SENDS = propertyRuns(1000, 400)
/** The number of concurrent sends; each lane has its own conversations. */
const LANES = 4
const CONVERSATIONS = 48
/**
 * The number of sends between two memory samples. Garbage that waits for collection makes single samples vary;
 * the minimum of several is stable.
 */
const SLICE = 100
/** The limit of growth, less than the memory a daemon would need to keep each turn. */
const MORE_MB = 64

test(`${SENDS} sends through one daemon are each answered and stored once, in order, with stable memory`, async () => {
  await using server = await startModelServer((asked) => ({ parts: ['to ', lastPrompt(asked)] }))
  await using home = await temporaryHome()
  await home.write('config.toml', shortConfig(server.url))
  const program = BINARY.endsWith('.ts') ? ([...FROM_SOURCE] as const) : ([BINARY] as const)
  const expected = new Map<string, string[]>()
  await using daemon = await startTestDaemon(home, { program: [...program] })
  const lane = async (first: number, end: number) => {
    for (let number = first; number < end; number += LANES) {
      const [sender, content] = [`c${number % CONVERSATIONS}`, `question ${number}`]
      const answer = await request(daemon.dispatch, 'send', { agent: 'crab', sender, content }, NEVER)
      assert.equal(answer.content, `to ${content}`)
      const lines = expected.get(sender) ?? []
      expected.set(sender, [...lines, `user: ${content}`, `assistant: to ${content}`])
    }
  }
  const lanes = Array.from({ length: LANES }, (_, index) => index)
  const memory: number[] = []
  for (let first = 0; first < SENDS; first += SLICE) {
    await Promise.all(lanes.map((index) => lane(first + index, first + SLICE)))
    memory.push(await readMemoryMb(daemon))
  }
  const half = memory.length / 2
  const [early, late] = [Math.min(...memory.slice(1, half)), Math.min(...memory.slice(half + 1))]
  assert.ok(late < early + MORE_MB, `${memory.join(', ')} MB`)
  const sessions = await readSessions(home.paths.home)
  const stored = new Map(sessions.map(({ header, said }) => [String(header['created_by']), said]))
  assert.deepEqual(stored, expected)
  assert.equal(server.requests.length, SENDS)
})

test('64 concurrent commands through one daemon, half of them to one conversation, are all answered and stored', async () => {
  await using talk = await makeTalk((asked) => ({ parts: ['to ', lastLine(lastPrompt(asked))] }))
  const daemon = HAS_DAEMONS ? undefined : await startSandboxDaemon(talk)
  const names = Array.from({ length: 64 }, (_, number) => ({
    sender: number % 2 === 0 ? 'shared' : `own${number}`,
    content: `question ${number}`,
  }))
  const runs = await Promise.all(
    names.map(({ sender, content }) => talk.send(['-s', sender, content], { env: WITH_DAEMON })),
  )
  for (const [index, { stdout, stderr, code }] of runs.entries()) {
    assert.deepEqual([stdout, stderr, code], [`to ${names[index]!.content}\n`, '', 0])
  }
  const sessions = await talk.sessions()
  assert.equal(sessions.length, 33)
  const shared = sessions.find(({ header }) => String(header['created_by']).endsWith('shared'))!
  const questions = shared.said.filter((_, at) => at % 2 === 0)
  assert.deepEqual(
    questions.toSorted(),
    names.flatMap(({ sender, content }) => (sender === 'shared' ? [`user: ${content}`] : [])).toSorted(),
  )
  assert.deepEqual(
    shared.said.filter((_, at) => at % 2 === 1),
    questions.map((question) => question.replace('user: ', 'assistant: to ')),
  )
  await daemon?.[Symbol.asyncDispose]()
  assert.equal((await daemon?.finished)?.code ?? 0, 0)
})

async function readMemoryMb({ dispatch }: TestDaemon): Promise<number> {
  return (await request(dispatch, 'getStats', {}, NEVER)).memoryBytes / 1e6
}

function lastLine(text: string): string {
  return text.split('\n').at(-1)!
}
