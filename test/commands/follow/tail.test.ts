import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OnAsk, RetryPolicy } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import type { Reply } from '../../support/model-server.ts'
import { type ServedCommand, serveCommands } from '../../support/served-commands.ts'

const LOOK: Reply = { parts: ['I look.\n', { call: 'c1', name: 'glob', args: '{"pattern":"*.toml"}' }] }

test('tail shows the history, then the turn of another client as it happens', async () => {
  const gate = Promise.withResolvers<void>()
  await using served = await serveCommands([
    { parts: ['Hello'] },
    LOOK,
    { parts: ['One\nline', gate.promise, ' more\u001b[31m.\n'] },
  ])
  await served.daemon.ask('hi')
  await using tail = await served.start(['tail', 'crab/ann'])
  await tail.prints(/^ann: hi\ncrab: Hello\n$/)
  const turn = served.daemon.ask('list\nthem', { cwd: served.daemon.home.paths.home })
  await tail.prints(/\nann: list\n {2}them\ncrab: I look\.\n→ glob \*\.toml\ncrab: One\n {2}line$/)
  gate.resolve()
  await turn
  await tail.prints(/ {2}line more\.\n$/)
  assert.deepEqual([await tail.end('SIGINT'), tail.at.stderr()], [130, ''])
})

test('tail joins a running turn from its first event', async () => {
  const gate = Promise.withResolvers<void>()
  await using served = await serveCommands([{ parts: ['first', gate.promise, ' second'] }])
  await using early = await served.start(['tail', 'crab/ann'])
  const turn = served.daemon.ask('hi')
  await early.prints(/^ann: hi\ncrab: first$/)
  await using late = await served.start(['tail', 'crab/ann', '--json'])
  await late.prints(/"text":"first"/)
  gate.resolve()
  await turn
  await early.prints(/^ann: hi\ncrab: first second\n$/)
  await late.prints(/"run\.finished"[\s\S]*"conversation"/)
  const lines = toLines(late)
  assert.deepEqual(
    lines.map(({ type }) => type),
    [
      'conversation',
      'message',
      'run.started',
      'conversation',
      'text.delta',
      'text.delta',
      'text.done',
      'run.finished',
      'conversation',
    ],
  )
  assert.deepEqual(
    lines.map(({ seq }) => seq),
    lines.map((_, at) => at + 1),
  )
  const finished = lines.find(({ type }) => type === 'run.finished')!
  assert.deepEqual([finished['ok'], finished['text'], finished['agent']], [true, 'first second', 'crab'])
  assert.deepEqual(await Promise.all([early.end('SIGTERM'), late.end('SIGHUP')]), [143, 129])
})

test('tail says that an answer broke off and starts again', async () => {
  await using served = await serveCommands([{ parts: ['Half an'], end: 'cut' }, { parts: ['The whole.'] }])
  await using text = await served.start(['tail', 'crab/ann'])
  await using json = await served.start(['tail', 'crab/ann', '--json'])
  await served.daemon.ask('hi', { options: { retryPolicy: RetryPolicy.PATIENT } })
  await text.prints(
    /crab: Half an\n• the answer broke off and starts again; retry 1 in \d+ ms: [^\n]*\ncrab: The whole\.\n$/,
  )
  await json.prints(/"run\.finished"[\s\S]*"conversation"/)
  const lines = toLines(json)
  assert.equal(lines.find(({ type }) => type === 'retry')!['discarded_texts'], 1)
  assert.equal(lines.find(({ type }) => type === 'run.finished')!['text'], 'The whole.')
  assert.deepEqual(await Promise.all([text.end('SIGTERM'), json.end('SIGTERM')]), [143, 143])
})

test('tail starts with as many messages as --lines says, not counting tools between them', async () => {
  await using served = await serveCommands([{ parts: ['one'] }, LOOK, { parts: ['two'] }])
  await served.daemon.ask('first')
  await served.daemon.ask('second', { cwd: served.daemon.home.paths.home })
  for (const [lines, text] of [
    ['0', /^$/],
    ['1', /^crab: two\n$/],
    ['3', /^ann: second\ncrab: I look\.\n→ glob \*\.toml\ncrab: two\n$/],
    ['4', /^crab: one\nann: second\n/],
  ] as const) {
    await using tail = await served.start(['tail', '-s', 'ann', '-n', lines])
    await tail.prints(text)
    assert.equal(await tail.end('SIGINT'), 130)
  }
})

test('tail shows a question with how to answer it, and that it was answered', async () => {
  await using served = await serveCommands([
    { parts: [{ call: 'c1', name: 'bash', args: '{"command":"echo \u202ehi"}' }] },
    { parts: ['Done.'] },
  ])
  await using early = await served.start(['tail', 'crab/ann'])
  const turn = served.daemon.ask('go', { options: { onAsk: OnAsk.PARK } })
  await early.prints(
    /\? crab asks: may it run in .*: echo \\u202ehi\n {2}answer with crabtalk answer (\w{8})\n$/,
  )
  const [, id = ''] = /crabtalk answer (\w{8})/.exec(early.at.stdout()) ?? []
  assert.equal((await served.run(['answer', id, '4'])).code, 0)
  await turn
  await early.prints(new RegExp(`\\n\\? ${id} is closed: bob\\n⊘ bash .* · denied: .*\\ncrab: Done\\.\\n$`))
  await early.end('SIGINT')
})

test('tail of a run follows its conversation, and reports an unknown run', async () => {
  const gate = Promise.withResolvers<void>()
  await using served = await serveCommands([{ parts: ['first', gate.promise] }])
  const turn = served.daemon.ask('hi', { detach: true })
  await using early = await served.start(['tail', 'crab/ann', '--json'])
  await early.prints(/"run\.started"/)
  const run = String(toLines(early).find(({ type }) => type === 'run.started')!['run'])
  for (const word of [run, run.slice(-8).toLowerCase()]) {
    await using tail = await served.start(['tail', word])
    await tail.prints(/^ann: hi\ncrab: first$/)
    await tail.end('SIGINT')
  }
  gate.resolve()
  await turn
  const { code, stderr } = await served.run(['tail', '01M7ZYNV4YSTE78QY8BXNJSE05'])
  assert.deepEqual(
    [code, /^crabtalk: error\[missing\]: Cannot find run 01M7/.test(stderr)],
    [1, true],
    stderr,
  )
  await early.end('SIGINT')
})

test('tail of a run that still waits for its conversation follows it', async () => {
  const gate = Promise.withResolvers<void>()
  await using served = await serveCommands([{ parts: ['first', gate.promise] }, { parts: ['second'] }])
  const [first, waiting] = [
    await served.run(['send', '-d', '--no-stdin', '-s', 'notes', 'one']),
    await served.run(['send', '-d', '--no-stdin', '-s', 'notes', 'two']),
  ]
  await using tail = await served.start(['tail', waiting.stdout.trim()])
  await tail.prints(/^notes: one\ncrab: first$/)
  gate.resolve()
  await tail.prints(/\nnotes: two\ncrab: second\n$/)
  assert.equal((await served.run(['wait', first.stdout.trim()])).stdout, 'first\n')
})

test('tail follows a conversation into its next session', async () => {
  await using served = await serveCommands([{ parts: ['one'] }, { parts: ['two'] }])
  await served.daemon.ask('first')
  await using tail = await served.start(['tail', 'crab/ann'])
  await tail.prints(/^ann: first\ncrab: one\n$/)
  const pair = { agent: 'crab', sender: 'ann' }
  await request(served.daemon.dispatch, 'newSession', pair, new AbortController().signal)
  await tail.prints(/\n• another conversation continues here\n$/)
  await served.daemon.ask('second')
  await tail.prints(/continues here\nann: second\ncrab: two\n$/)
})

for (const [argv, problem] of [
  [['tail', 'crab/ann', '-a', 'crab'], /error\[usage\]: Cannot use --agent/],
  [['tail', 'crab/ann', '-s', 'bob'], /error\[usage\]: Cannot use --sender/],
  [['tail', '/ann'], /error\[usage\]: Cannot use \/ann/],
  [['tail', 'nobody/ann'], /error\[missing\]: .*nobody/],
] as const) {
  test(`${argv.join(' ')} is rejected`, async () => {
    await using served = await serveCommands([])
    const { code, stdout, stderr } = await served.run(argv)
    assert.match(stderr, problem)
    assert.deepEqual([code === 0, stdout], [false, ''])
  })
}

function toLines(tail: ServedCommand): Record<string, unknown>[] {
  const text = tail.at.stdout()
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
