import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastPrompt, makeTalk, type Session, type Talk } from '../support/talk.ts'

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8]
const WAITS = /^crabtalk: waiting to start; another turn of this conversation may be running\r?\n$/

test('eight concurrent sends to one conversation are answered in sequence, in one valid file', async () => {
  await using talk = await makeTalk((request) => ({ parts: ['answer to ', lastPrompt(request)] }))
  const { stdout, stderr, code } = await talk.shell(
    'seq 8 | xargs -P8 -I{} crabtalk send -s same "message {}"',
  )
  assert.deepEqual([stderr, code], ['', 0])
  const answers = EIGHT.map((number) => `answer to message ${number}`)
  assert.deepEqual(stdout.trimEnd().split('\n').toSorted(), answers)
  const [session, ...more] = await talk.sessions()
  assert.deepEqual(more, [])
  assertAlternates(
    session,
    EIGHT.map((number) => `message ${number}`),
  )
  assert.deepEqual(historyLengths(talk), [1, 3, 5, 7, 9, 11, 13, 15])
  assert.deepEqual(await talk.processesLeft(), [])
})

test('eight concurrent sends to eight conversations run concurrently, without loss or mixing', async () => {
  const { promise: allThere, resolve } = Promise.withResolvers<void>()
  await using talk = await makeTalk((request, index) => {
    if (index === 7) resolve()
    return { parts: [allThere, `answer to ${lastPrompt(request)}`] }
  })
  const runs = EIGHT.map((number) => talk.send(['-s', `sender ${number}`, `message ${number}`]))
  for (const [index, { stdout, stderr, code }] of (await Promise.all(runs)).entries()) {
    assert.deepEqual([stdout, stderr, code], [`answer to message ${index + 1}\n`, '', 0])
  }
  const sessions = await talk.sessions()
  assert.equal(sessions.length, 8)
  for (const session of sessions) {
    assertAlternates(session, [`message ${String(session.header['created_by']).slice(-1)}`])
  }
  assert.deepEqual(await talk.processesLeft(), [])
})

test('eight first sends on a fresh home make one agent and eight conversations', async () => {
  await using talk = await makeTalk(() => ({ parts: ['ok'] }))
  const script = 'seq 8 | xargs -P8 -I{} crabtalk send "message {}"; crabtalk agent list --json'
  const { stdout, stderr } = await talk.shell(script)
  assert.equal(stderr, '')
  const [agent, ...more] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  assert.deepEqual(more, [])
  const sessions = await talk.sessions()
  assert.equal(sessions.length, 8)
  for (const { header, said } of sessions) assert.deepEqual([header['agent_id'], said.length], [agent.id, 2])
})

test('a send that waits for a busy conversation can be cancelled, and stores nothing', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using talk = await makeTalk(() => ({ parts: ['begun', promise, ' and done'] }))
  const first = talk.startSend(['-s', 'me', 'first'])
  await first.prints(/^begun$/)
  const waiting = talk.startSend(['-v', '-s', 'me', 'second'])
  await waiting.prints(WAITS, 'stderr')
  assert.equal((await talk.send(['-s', 'me', '--timeout', '1s', 'third'])).code, 124)
  waiting.child.kill('SIGINT')
  assert.deepEqual([(await waiting.finished).code, talk.server.requests.length], [130, 1])
  resolve()
  assert.equal((await first.finished).stdout, 'begun and done\n')
  assert.deepEqual((await talk.sessions())[0]?.said, ['user: first', 'assistant: begun and done'])
})

test('a send that waits for a busy conversation says so on a terminal, and in a pipe with -v only', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using talk = await makeTalk((_, index) => ({ parts: index === 0 ? ['begun', promise] : ['ok'] }))
  const first = talk.startSend(['-s', 'me', 'first'])
  await first.prints(/^begun$/)
  const silent = talk.send(['-s', 'me', 'second'])
  const terminal = talk.terminal(['send', '-s', 'me', 'third'])
  const verbose = talk.startSend(['-v', '-s', 'me', 'fourth'])
  await Promise.all([terminal.shows(WAITS), verbose.prints(WAITS, 'stderr')])
  resolve()
  assert.equal((await first.finished).code, 0)
  assert.deepEqual([(await silent).stdout, (await silent).stderr], ['ok\n', ''])
  assert.deepEqual([(await terminal.finished).code, (await verbose.finished).stdout], [0, 'ok\n'])
})

test('listings and other conversations do not wait for a running turn', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using talk = await makeTalk((_, index) => ({ parts: index === 0 ? ['begun', promise] : ['ok'] }))
  const running = talk.startSend(['-s', 'me', 'hello'])
  await running.prints(/^begun$/)
  assert.equal((await talk.send(['-s', 'you', 'hello'])).stdout, 'ok\n')
  assert.equal(JSON.parse((await talk.run(['conversation', 'list', '--json'])).stdout).length, 2)
  assert.match((await talk.run(['conversation', 'show'])).stdout, /## You\n\nhello\n/)
  resolve()
  assert.equal((await running.finished).stdout, 'begun\n')
})

/** Checks that every message is followed by its own answer; the messages may be in any order. */
function assertAlternates(session: Session | undefined, messages: readonly string[]): void {
  const lines = session?.said ?? []
  const questions = lines.filter((_, index) => index % 2 === 0).map((line) => line.slice('user: '.length))
  assert.deepEqual(questions.toSorted(), messages)
  assert.deepEqual(
    lines,
    questions.flatMap((message) => [`user: ${message}`, `assistant: answer to ${message}`]),
  )
}

/** Returns the number of messages in each request, without the system message. */
function historyLengths({ server }: Talk): number[] {
  const requests = server.requests.map(({ json }) => json['messages'] as { role: string }[])
  return requests.map((messages) => messages.filter(({ role }) => role !== 'system').length)
}
