import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { MAX_INPUT_BYTES } from '../../../src/cli/named-file.ts'
import type { Reply, Script } from '../../support/model-server.ts'
import { type SendTest, startSendTest } from '../../support/run-send.ts'
import { toSentLines } from '../../support/test-node.ts'
import { until } from '../../support/until.ts'

const FORMS = ['--input', 'stream-json', '--output', 'stream-json']
const WRITE: Reply = { parts: [{ call: 'a', name: 'write', args: '{"path":"new.txt","content":"x"}' }] }

test('send as a co-process answers each record, in order and in one conversation', async () => {
  await using talk = await startTalk((request) => ({ parts: [`re ${toSentLines(request).at(-1)}`] }))
  talk.write({ type: 'user', content: 'one' })
  talk.write({ type: 'user', content: 'two' })
  talk.stdin.write('\n')
  talk.stdin.end('{"type":"user","content":"three"}')
  const { code, stderr } = await talk.finished
  assert.deepEqual([code, stderr], [0, ''])
  const ends = talk.lines().filter(({ type }) => type === 'run.finished')
  assert.deepEqual(
    ends.map(({ text }) => text),
    ['re user: one', 're user: two', 're user: three'],
  )
  assert.equal(new Set(ends.map(({ session }) => session)).size, 1)
  assert.equal(toSentLines(talk.send.server.requests[2]).length, 5)
})

test('send as a co-process reads a record in any pieces', async () => {
  await using talk = await startTalk((request) => ({ parts: [`re ${toSentLines(request).at(-1)}`] }))
  const bytes = Buffer.from(`${JSON.stringify({ type: 'user', content: 'é🦀' })}\n`)
  for (const byte of bytes) {
    talk.stdin.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  talk.stdin.end()
  await talk.finished
  assert.equal(talk.lines().at(-1)?.['text'], 're user: é🦀')
})

test('send as a co-process cancels a turn on request and continues with the next', async () => {
  await using talk = await startTalk([{ parts: ['Half'], end: 'hang' }, { parts: ['Whole'] }])
  talk.write({ type: 'user', content: 'one' })
  await talk.shows('text.delta')
  talk.write({ type: 'cancel' })
  await talk.shows('run.finished')
  talk.write({ type: 'cancel' })
  talk.write({ type: 'user', content: 'two' })
  talk.stdin.end()
  assert.deepEqual(await talk.finished, { code: 130, stdout: talk.stdout(), stderr: '' })
  const ends = talk.lines().filter(({ type }) => type === 'run.finished')
  assert.deepEqual(
    ends.map(({ status, text }) => [status, text]),
    [
      ['cancelled', 'Half'],
      ['answered', 'Whole'],
    ],
  )
})

test('send as a co-process cancels the first turn that has not ended, even before it starts', async () => {
  await using talk = await startTalk((request) => ({ parts: [`re ${toSentLines(request).at(-1)}`] }))
  const lines = [user('one'), { type: 'cancel' }, user('two'), user('three'), { type: 'cancel' }]
  talk.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const { code } = await talk.finished
  const ends = talk.lines().filter(({ type }) => type === 'run.finished')
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['cancelled', 'answered', 'answered'],
  )
  assert.equal(code, 130)
})

test('send as a co-process cancels a later turn when those before it have ended', async () => {
  await using talk = await startTalk([{ parts: ['Whole'] }, { parts: ['Half'], end: 'hang' }])
  talk.write(user('one'))
  await talk.shows('run.finished')
  talk.write(user('two'))
  await until('the second turn says something', () => talk.stdout().includes('Half'))
  talk.write({ type: 'cancel' })
  talk.stdin.end()
  assert.equal((await talk.finished).code, 130)
})

test('send as a co-process rejects a turn that is too large for a message, and continues with the next', async () => {
  await using talk = await startTalk([{ parts: ['yes'] }])
  talk.write(user('é'.repeat(MAX_INPUT_BYTES / 2 + 1)))
  talk.write(user('two'))
  talk.stdin.end()
  const { code, stderr } = await talk.finished
  assert.equal(code, 65)
  assert.match(stderr, /its 15728642 bytes are more than 15728640 bytes, the limit/)
  const ends = talk.lines().filter(({ type }) => type === 'run.finished')
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['invalid', 'answered'],
  )
})

test('send as a co-process asks its client, and uses the answer', async () => {
  await using talk = await startTalk([WRITE, { parts: ['Done'] }], ['--on-ask', 'client'])
  talk.write(user('one'))
  await talk.shows('ask.opened')
  const { ask, questions } = talk.line('ask.opened') as unknown as Opened
  const [{ question }] = questions
  talk.write({ type: 'answer', ask: 'x', content: { [question]: 'Allow once' } })
  talk.write({ type: 'answer', ask, content: { 'Else?': 'Allow once' } })
  talk.write({ type: 'answer', ask, content: { [question]: 'Allow once' } })
  await talk.shows('run.finished')
  talk.stdin.end()
  const { code, stderr } = await talk.finished
  assert.deepEqual([code, stderr], [0, ''])
  const notices = talk.lines().flatMap(({ type, message }) => (type === 'notice' ? [message] : []))
  assert.deepEqual(notices, [
    'The answer to x was not accepted: Cannot answer: no pending question has that id',
    `The answer to ${ask} was not accepted: Cannot use the answer: it does not answer "${question}"`,
  ])
  assert.deepEqual(talk.line('ask.closed')['content'], { [question]: 'Allow once' })
  assert.equal(await readFile(join(talk.send.at.folder, 'new.txt'), 'utf8'), 'x')
})

test('send as a co-process rejects an answer between turns, and says so', async () => {
  await using talk = await startTalk([], ['--on-ask', 'client'])
  talk.stdin.end('{"type":"answer","ask":"x\\u001b[2J","content":{}}')
  const { code, stderr } = await talk.finished
  assert.deepEqual(
    [code, stderr],
    [0, 'crabtalk: The answer to x was not accepted: Cannot answer: no pending question has that id\n'],
  )
})

test('send as a co-process ends a turn that asks when its input has ended', async () => {
  await using early = await startTalk([WRITE], ['--on-ask', 'client'])
  early.write(user('one'))
  early.stdin.end()
  assert.equal((await early.finished).code, 4)
  await using late = await startTalk([WRITE], ['--on-ask', 'client'])
  late.write(user('one'))
  await late.shows('ask.opened')
  late.stdin.end()
  const { code, stderr } = await late.finished
  assert.equal(code, 4)
  assert.match(stderr, /^crabtalk: error\[denied\]: Cannot ask: the input has ended/)
})

test('send as a co-process continues when a permission is not given', async () => {
  await using talk = await startTalk([WRITE, { parts: ['Done'] }])
  talk.write(user('one'))
  talk.stdin.end()
  const { code, stderr } = await talk.finished
  assert.equal(code, 4)
  assert.match(
    stderr,
    /^crabtalk: denied edit new\.txt \(.*\); allow it with --allow 'edit\(new\.txt\)'\n.*error\[denied\]/,
  )
  const { text, exit, denied } = talk.lines().at(-1)! as { text: string; exit: number; denied: object[] }
  assert.deepEqual([text, exit, denied.length], ['Done', 4, 1])
})

for (const [line, said] of [
  ['nonsense', /Cannot read record 2: /],
  ['{"type":"user"}', /Cannot use record 2: content: /],
  ['{"type":"user","content":""}', /Cannot use record 2: content: /],
  ['{"type":"shout","content":"x"}', /Cannot use record 2: /],
  ['{"type":"answer","ask":"x"}', /Cannot use record 2: content: /],
  ['{"type":"answer","ask":"x","content":{"q":1}}', /Cannot use record 2: content\.q: /],
  ['{"type":"cancel","now":true}', /Cannot use record 2: /],
  ['[]', /Cannot use record 2: /],
] as const) {
  test(`send as a co-process ends at ${line}, after the turns before it`, async () => {
    await using talk = await startTalk([{ parts: ['yes'] }])
    talk.write({ type: 'user', content: 'one' })
    talk.stdin.end(`${line}\n`)
    const { code, stderr } = await talk.finished
    assert.equal(code, 65)
    assert.match(stderr, /^crabtalk: error\[invalid\]: /)
    assert.match(stderr, said)
    assert.equal(talk.lines().at(-1)?.['text'], 'yes')
  })
}

test('send as a co-process ends on a signal, also while it waits for input', async () => {
  await using talk = await startTalk([{ parts: ['Half'], end: 'hang' }])
  talk.write({ type: 'user', content: 'one' })
  await talk.shows('text.delta')
  talk.send.at.signal('SIGINT')
  assert.equal((await talk.finished).code, 130)
  assert.deepEqual([talk.lines().at(-1)?.['type'], talk.lines().at(-1)?.['exit']], ['run.finished', 130])
  await using idle = await startTalk([])
  await until('signals are heard', () => idle.send.at.listeners() > 0)
  idle.send.at.signal('SIGTERM')
  assert.equal((await idle.finished).code, 143)
})

function user(content: string): object {
  return { type: 'user', content }
}

interface Talk extends AsyncDisposable {
  send: SendTest
  stdin: PassThrough
  finished: ReturnType<SendTest['run']>
  write(record: object): void
  stdout(): string
  lines(): Record<string, unknown>[]
  /** Returns the first line of that type. */
  line(type: string): Record<string, unknown>
  /** Waits until a line of that type was printed. */
  shows(type: string): Promise<void>
}

interface Opened {
  ask: string
  questions: [{ question: string }]
}

async function startTalk(script: Script, argv: readonly string[] = []): Promise<Talk> {
  const stdin = new PassThrough()
  const send = await startSendTest(script, { stdin })
  const lines = () => {
    const whole = send.at.stdout().split('\n').slice(0, -1)
    return whole.map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  return {
    send,
    stdin,
    finished: send.run('send', ...FORMS, ...argv),
    write: (record) => stdin.write(`${JSON.stringify(record)}\n`),
    stdout: () => send.at.stdout(),
    lines,
    line: (type) => lines().find((line) => line['type'] === type)!,
    shows: (type) => until(`${type} is printed`, () => lines().some((line) => line['type'] === type)),
    [Symbol.asyncDispose]: () => send[Symbol.asyncDispose](),
  }
}
