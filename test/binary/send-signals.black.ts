import assert from 'node:assert/strict'
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Reply } from '../support/model-server.ts'
import { lastPrompt, makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** Sends one word and then nothing more. */
const HANGS: Reply = { parts: ['partial'], end: 'hang' }
const EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} cancels the turn, keeps its text, and the conversation continues`, async () => {
    await using talk = await makeTalk((_, index) => (index === 0 ? HANGS : { parts: ['again'] }))
    const running = talk.startSend(['-s', 'me', 'hello'])
    await running.prints(/^partial$/)
    running.child.kill(signal)
    const { stdout, stderr, code } = await running.finished
    assert.deepEqual([stdout, stderr, code], ['partial\n', '', EXITS[signal]])
    assert.equal(await talk.server.requests[0]?.done, false)
    assert.deepEqual((await talk.sessions())[0]?.said, ['user: hello', 'assistant: partial [cancelled]'])
    assert.equal((await talk.send(['-s', 'me', 'go on'])).stdout, 'again\n')
    const roles = talk.server.requests[1]?.json['messages'] as { role: string }[]
    assert.deepEqual(
      roles.filter(({ role }) => role !== 'system').map(({ role }) => role),
      ['user', 'assistant', 'user'],
    )
    assert.deepEqual(await talk.processesLeft(), [])
  })
}

test('Ctrl-C on a terminal ends with 130 and leaves the cursor at the start of a line', async () => {
  await using talk = await makeTalk([HANGS])
  const terminal = talk.terminal(['send', 'hello'])
  await terminal.shows(/partial/)
  terminal.type('\x03')
  assert.deepEqual(await terminal.finished, { code: 0, signal: 2 })
  assert.equal(terminal.output(), 'partial^C\r\n')
})

test('Ctrl-C stops the shell loop in which it runs', async () => {
  await using talk = await makeTalk(() => HANGS)
  const loop = 'for word in one two three; do crabtalk send $word; done; echo after'
  const terminal = talk.terminalShell(`exec bash -c '${loop}'`)
  await terminal.shows(/partial/)
  terminal.type('\x03')
  await terminal.finished
  assert.deepEqual([terminal.output(), talk.server.requests.length], ['partial^C\r\n', 1])
})

test('a signal before the first answer, or while standard input is read, ends the process', async () => {
  await using talk = await makeTalk([{ silent: true }])
  const send = talk.startSend(['-s', 'me', 'hello'])
  await asksServer(talk, 1)
  send.child.kill('SIGINT')
  assert.deepEqual({ ...(await send.finished), stdoutBytes: 0 }, ended('SIGINT'))
  assert.deepEqual((await talk.sessions())[0]?.said, ['user: hello'])
  const reading = talk.startSend(['hello'], { stdin: 'open' })
  await reading.prints(/waiting for standard input/, 'stderr')
  reading.child.kill('SIGTERM')
  assert.equal((await reading.finished).code, 143)
  assert.equal((await talk.sessions()).length, 1)
})

test('a signal is reported in the JSON formats as well', async () => {
  await using talk = await makeTalk(() => HANGS)
  const forms = { json: /^$/, 'stream-json': /"partial"/ }
  for (const [form, begun] of Object.entries(forms)) {
    const running = talk.startSend(['-s', form, '--output', form, 'hello'])
    await asksServer(talk, form === 'json' ? 1 : 2)
    await running.prints(begun)
    running.child.kill('SIGINT')
    const { stdout, stderr, code } = await running.finished
    const { ok, exit, status, error } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
    assert.deepEqual([ok, exit, status, error.code], [false, 130, 'cancelled', 'cancelled'])
    assert.deepEqual([stderr, code], ['', 130])
  }
})

test('a reader that goes away cancels the turn quietly with 141, also at the server', async () => {
  const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}\n`)
  await using talk = await makeTalk(() => ({ parts: lines, paceMs: 10 }))
  const { stdout, stderr } = await talk.shell('{ crabtalk send hello; echo "exit $?" >&2; } | head -1')
  assert.deepEqual([stdout, stderr], ['line 0\n', 'exit 141\n'])
  assert.equal(await talk.server.requests[0]?.done, false)
  assert.match((await talk.sessions())[0]?.said[1] ?? '', /^assistant: line 0\n(line \d+\n)* \[cancelled\]$/)
})

test('a reader that sleeps does not keep Ctrl-C from ending the process, once or twice', async () => {
  await using talk = await makeTalk(() => ({ parts: ['text', 'more'], end: 'hang' }))
  await talk.shell('mkfifo pipe')
  for (const times of [1, 2]) {
    const [reader, pipe] = openFull(join(talk.cwd, 'pipe'))
    const running = talk.startSend(['-vv', 'hello'], { stdout: pipe })
    await running.prints(/^textStart/m, 'stderr')
    assert.ok(isBlocking(pipe), 'who shares standard output finds it as it was')
    for (let count = 0; count < times; count++) running.child.kill('SIGINT')
    const { code, signal } = await running.finished
    assert.ok(code === 130 || signal === 'SIGINT', `${code} ${signal}`)
    for (const fd of [pipe, reader]) closeSync(fd)
  }
  for (const { said } of await talk.sessions()) assert.deepEqual(said[0], 'user: hello')
})

test('kill -9 leaves nothing that blocks the next turn', async () => {
  await using talk = await makeTalk((request) =>
    lastPrompt(request) === 'hello' ? HANGS : { parts: ['again'] },
  )
  const running = talk.startSend(['-s', 'me', 'hello'])
  await running.prints(/^partial$/)
  running.child.kill('SIGKILL')
  await running.finished
  assert.equal((await talk.send(['-s', 'me', 'again'])).stdout, 'again\n')
})

async function asksServer(talk: Talk, times: number): Promise<void> {
  await until('the server is asked', () => talk.server.requests.length === times)
}

/** Opens a full pipe: a reader that does not read, and a descriptor to write to, which blocks. */
function openFull(path: string): [reader: number, writer: number] {
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  assert.throws(
    () => {
      for (;;) writeSync(reader, Buffer.alloc(4096))
    },
    { code: 'EAGAIN' },
  )
  return [reader, writer]
}

/** Whether the descriptor is in blocking mode, which all processes that share it see. */
function isBlocking(fd: number): boolean {
  const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
  return (Number.parseInt(flags ?? '', 8) & constants.O_NONBLOCK) === 0
}

function ended(signal: keyof typeof EXITS) {
  return { stdout: '', stderr: '', stdoutBytes: 0, code: EXITS[signal], signal }
}
