import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/base/message.ts'
import type { Script } from '../support/model-server.ts'
import type { Running } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, lastPrompt, makeTalk } from '../support/talk.ts'

const RECORDS = ['--input', 'stream-json', '--output', 'stream-json']
/** Answers with the prompt, except that `hang` gets half an answer. */
const ECHO: Script = (request) => {
  const prompt = lastPrompt(request)
  return prompt.endsWith('hang') ? { parts: ['half'], end: 'hang' } : { parts: [prompt] }
}

test('a co-process answers each user record in one conversation, in order, until its input ends', async () => {
  await using talk = await makeTalk(ECHO)
  const running = talk.startSend(RECORDS, { stdin: 'open' })
  writeRecord(running, { type: 'user', content: 'one' })
  await running.prints(/"run.finished"/)
  writeRecord(running, { type: 'user', content: 'two' }, { type: 'user', content: 'three' })
  running.child.stdin?.end('\n')
  const { stdout, stderr, code } = await running.finished
  assert.deepEqual([stderr, code], ['', 0])
  assert.deepEqual(answerTexts(stdout), ['one', 'two', 'three'])
  const [{ said } = { said: [] }, ...more] = await talk.sessions()
  assert.deepEqual(
    [said.filter((line) => line.startsWith('user')), more],
    [['user: one', 'user: two', 'user: three'], []],
  )
  const { messages } = talk.server.requests.at(-1)?.json ?? {}
  assert.equal((messages as object[]).length, 6)
})

test('cancel ends only the running turn, and the conversation continues', async () => {
  await using talk = await makeTalk(ECHO)
  const running = talk.startSend([...RECORDS, '-s', 'me'], { stdin: 'open' })
  writeRecord(running, { type: 'user', content: 'please hang' }, { type: 'user', content: 'go on' })
  await running.prints(/"text":"half"/)
  writeRecord(running, { type: 'cancel' })
  await running.prints(/"text":"go on"/)
  running.child.stdin?.end()
  const { stdout, stderr } = await running.finished
  assert.equal(stderr, '')
  const finished = lastRecords(stdout).map(({ ok, status, stop_reason }) => [ok, status, stop_reason])
  assert.deepEqual(finished, [
    [false, 'cancelled', 'cancelled'],
    [true, 'answered', 'stop'],
  ])
  const lines = ['user: please hang', 'assistant: half [cancelled]', 'user: go on', 'assistant: go on']
  assert.deepEqual((await talk.sessions())[0]?.said, lines)
})

test('a co-process whose last turn was cancelled exits with 130, not by a signal', async () => {
  await using talk = await makeTalk(ECHO)
  const running = talk.startSend(RECORDS, { stdin: 'open' })
  writeRecord(running, { type: 'user', content: 'hang' })
  await running.prints(/"text":"half"/)
  writeRecord(running, { type: 'cancel' })
  running.child.stdin?.end()
  const { code, signal } = await running.finished
  assert.deepEqual([code, signal], [130, null])
})

test('a co-process asks its client with --on-ask client, and follows its answer', async () => {
  const write = { call: 'c', name: 'write', args: '{"path":"new.txt","content":"x"}' }
  await using talk = await makeTalk([{ parts: [write] }, { parts: ['Done'] }, { parts: [write] }])
  const running = talk.startSend([...RECORDS, '--on-ask', 'client'], { stdin: 'open' })
  writeRecord(running, { type: 'user', content: 'one' })
  await running.prints(/"ask\.opened".*\n/)
  const [, line = ''] = /^(.*"ask\.opened".*)$/m.exec(running.printed()) ?? []
  const { ask, kind, questions, permission } = JSON.parse(line)
  assert.deepEqual(
    [kind, permission.action, permission.rules],
    ['permission', 'edit new.txt', ['edit(new.txt)']],
  )
  writeRecord(running, { type: 'answer', ask, content: { [questions[0].question]: 'Allow once' } })
  await running.prints(/"run\.finished"/)
  assert.equal(await readFile(join(talk.cwd, 'new.txt'), 'utf8'), 'x')
  writeRecord(running, { type: 'user', content: 'two' })
  await running.prints(/"ask\.opened".*"ask\.opened"/s)
  running.child.stdin?.end()
  const { stdout, stderr, code } = await running.finished
  assert.deepEqual(
    lastRecords(stdout).map(({ exit }) => exit),
    [0, 4],
  )
  assert.match(stderr, /^crabtalk: error\[denied\]: Cannot ask: the input has ended/)
  assert.equal(code, 4)
})

test('a co-process reports its question as closed when it cancels the turn in a daemon', async () => {
  const write = { call: 'c', name: 'write', args: '{"path":"new.txt","content":"x"}' }
  await using talk = await makeTalk([{ parts: [write] }])
  await using _daemon = await startSandboxDaemon(talk, [], { env: WITH_DAEMON })
  const running = talk.startSend([...RECORDS, '--on-ask', 'client'], { stdin: 'open', env: WITH_DAEMON })
  writeRecord(running, { type: 'user', content: 'one' })
  await running.prints(/"ask\.opened".*\n/)
  writeRecord(running, { type: 'cancel' })
  running.child.stdin?.end()
  const { stdout } = await running.finished
  assert.match(stdout, /"ask\.closed".*"by":"cancelled".*\n.*"run\.finished".*\n$/)
})

test('a cancel without a running turn is not a failure', async () => {
  await using talk = await makeTalk(ECHO)
  const { stdout, stderr, code } = await talk.send(RECORDS, {
    stdin: '{"type":"cancel"}\n{"type":"user","content":"a"}',
  })
  assert.deepEqual([answerTexts(stdout), stderr, code], [['a'], '', 0])
})

test('an invalid record exits 65 with its number, after the turns before it were answered', async () => {
  await using talk = await makeTalk(ECHO)
  const bad: [string, RegExp][] = [
    ['nonsense', /^Cannot read record 2: .*not valid JSON$/],
    ['{"type":"user"}', /^Cannot use record 2: content: /],
    ['{"type":"user","content":"x","more":1}', /^Cannot use record 2: /],
    ['{"type":"shout","content":"x"}', /^Cannot use record 2: type: /],
  ]
  for (const [record, message] of bad) {
    const finished = await talk.send(RECORDS, { stdin: `{"type":"user","content":"one"}\n${record}\n` })
    assert.deepEqual(answerTexts(finished.stdout), ['one'])
    assertFailed({ ...finished, stdout: '' }, 'invalid', { message, hint: /\{"type":"cancel"\}/ })
  }
})

test('a failed turn is reported, the next one runs, and the exit code is that of the failure', async () => {
  await using talk = await makeTalk([{ status: 401, body: { error: { message: 'no' } } }, { parts: ['ok'] }])
  const { stdout, stderr, code } = await talk.send([...RECORDS, '--retries', '0'], {
    stdin: '{"type":"user","content":"one"}\n{"type":"user","content":"two"}\n',
  })
  assert.deepEqual(
    lastRecords(stdout).map(({ status }) => status),
    ['credentials', 'answered'],
  )
  assert.match(stderr, /^crabtalk: error\[credentials\]: [^\n]*\n(hint: .*\n)?$/)
  assert.equal(code, 77)
})

test('a signal ends a co-process during a turn and while it waits for records', async () => {
  await using talk = await makeTalk(ECHO)
  const busy = talk.startSend(RECORDS, { stdin: 'open' })
  writeRecord(busy, { type: 'user', content: 'hang' }, { type: 'user', content: 'never asked' })
  await busy.prints(/"text":"half"/)
  busy.child.kill('SIGINT')
  const ended = await busy.finished
  assert.deepEqual([ended.code, ended.stderr, lastRecords(ended.stdout).length], [130, '', 1])
  assert.equal(talk.server.requests.length, 1)
  const idle = talk.startSend(RECORDS, { stdin: 'open' })
  writeRecord(idle, { type: 'user', content: 'one' })
  await idle.prints(/"run.finished"/)
  idle.child.kill('SIGTERM')
  assert.equal((await idle.finished).code, 143)
})

test('a co-process accepts records only, and rejects prompts, files and other output formats', async () => {
  await using talk = await makeTalk([])
  const refused = [
    [...RECORDS, 'prompt'],
    ['--input', 'stream-json'],
    [...RECORDS, '-f', 'x'],
    [...RECORDS, '-O', 'x'],
  ]
  for (const args of refused) {
    const { stderr, code } = await talk.send(args)
    assert.match(stderr, /^crabtalk: error\[usage\]: Cannot (combine|read records)/)
    assert.equal(code, 2)
  }
})

function writeRecord(running: Running, ...records: readonly JsonObject[]): void {
  for (const record of records) running.child.stdin?.write(`${JSON.stringify(record)}\n`)
}

/** Returns the last record of each run. */
function lastRecords(stdout: string): JsonObject[] {
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line): JsonObject => JSON.parse(line))
  return records.filter(({ type }) => type === 'run.finished')
}

function answerTexts(stdout: string): unknown[] {
  return lastRecords(stdout).map(({ text }) => text)
}
