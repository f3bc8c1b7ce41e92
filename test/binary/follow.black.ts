import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CRABTALK } from '../../src/commands/table.ts'
import type { Script } from '../support/model-server.ts'
import { leftAfter, livingWith } from '../support/orphans.ts'
import { GRACE_MS } from '../support/processes.ts'
import { makeSandbox, type RunOptions } from '../support/run-binary.ts'
import { type SandboxDaemon, startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** A talk with a daemon that its commands find. */
interface Served extends AsyncDisposable {
  talk: Talk
  run: Talk['run']
  start: Talk['start']
}

async function serve(script: Script): Promise<Served> {
  const talk = await makeTalk(script)
  const own: AsyncDisposable[] = [talk]
  const isThere = existsSync(join(talk.home, 'run', 'crabtalk.sock'))
  const daemon: SandboxDaemon | undefined = isThere ? undefined : await startSandboxDaemon(talk)
  if (daemon) own.unshift(daemon)
  const withDaemon = (options: RunOptions = {}) => ({ ...options, env: { ...WITH_DAEMON, ...options.env } })
  return {
    talk,
    run: (args, options) => talk.run(args, withDaemon(options)),
    start: (args, options) => talk.start(args, withDaemon(options)),
    async [Symbol.asyncDispose]() {
      for (const one of own) await one[Symbol.asyncDispose]()
    },
  }
}

test("two followers and a send see each other's events live", async () => {
  const gate = Promise.withResolvers<void>()
  await using at = await serve([{ parts: ['first half', gate.promise, ', second half'] }])
  const text = at.start(['tail', 'crab/notes'])
  const json = at.start(['tail', '-s', 'notes', '--json'])
  await json.prints(/"conversation"/)
  const send = at.start(['send', '-s', 'notes', 'hello'])
  await Promise.all([
    text.prints(/^notes: hello\ncrab: first half$/),
    json.prints(/"text":"first half"/),
    send.prints(/^first half$/),
  ])
  gate.resolve()
  await Promise.all([text.prints(/first half, second half\n$/), json.prints(/"run\.finished"/)])
  assert.deepEqual([(await send.finished).code, send.printed()], [0, 'first half, second half\n'])
  text.child.kill('SIGINT')
  json.child.kill('SIGTERM')
  const [one, other] = await Promise.all([text.finished, json.finished])
  assert.deepEqual([one.code, one.stderr, other.code, other.stderr], [130, '', 143, ''])
})

test('a question is answered from another process, once, and closes everywhere', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"echo made > it.txt"}' }
  await using at = await serve([{ parts: [call] }, { parts: ['Made.'] }])
  const follower = at.start(['asks', '--follow', '--json'])
  const tail = at.start(['tail', 'crab/notes'])
  const send = at.start(['send', '-s', 'notes', '--on-ask', 'park', 'make it'])
  await follower.prints(/"ask\.opened"/)
  const listed = JSON.parse((await at.run(['asks', '--json'])).stdout)
  assert.deepEqual(
    [listed.length, listed[0].sender, listed[0].permission.action],
    [1, 'notes', 'bash: echo made > it.txt'],
  )
  const [first, second] = await Promise.all([
    at.run(['answer', listed[0].id, '1']),
    at.run(['answer', listed[0].id, '1']),
  ])
  assert.deepEqual([first.code, second.code].toSorted(), [0, 1])
  const late = first.code === 1 ? first : second
  assertFailed(late, 'missing', {
    message: /Cannot answer.*: no pending question has that id/,
    hint: /answered elsewhere/,
  })
  const { code, stdout } = await send.finished
  assert.deepEqual([code, stdout], [0, 'Made.\n'])
  assert.ok(existsSync(join(at.talk.cwd, 'it.txt')))
  await follower.prints(/"ask\.closed".*Allow once/)
  await tail.prints(/\? \w{8} is closed: .*\ncrab: Made\.\n$/)
  for (const one of [follower, tail]) one.child.kill('SIGINT')
  await Promise.all([follower.finished, tail.finished])
})

test('answer without an answer asks on the terminal', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch no"}' }
  await using at = await serve([{ parts: [call] }, { parts: ['Then not.'] }])
  const send = at.start(['send', '-s', 'notes', '--on-ask', 'park', 'make it'])
  await send.prints(/answer with crabtalk answer \w{8}\n$/, 'stderr')
  const [, id = ''] = /crabtalk answer (\w{8})/.exec((await at.run(['asks'])).stdout) ?? []
  const terminal = at.talk.terminal(['answer', id], { env: WITH_DAEMON })
  await terminal.shows(/touch no[\s\S]*> /)
  terminal.type('4\r')
  assert.equal((await terminal.finished).code, 0)
  assert.equal((await send.finished).stdout, 'Then not.\n')
})

test('a kill from another terminal stops the model request, and the conversation continues', async () => {
  await using at = await serve([{ parts: ['I think'], end: 'hang' }, { parts: ['Here again.'] }])
  const send = at.start(['send', '-s', 'notes', 'think'])
  await send.prints(/I think/)
  const killed = await at.run(['conversation', 'kill', 'crab/notes'])
  assert.deepEqual([killed.code, killed.stdout, killed.stderr], [0, 'interrupted crab/notes\n', ''])
  assert.equal(await at.talk.server.requests[0]!.done, false)
  assert.equal((await send.finished).code, 130)
  const next = await at.run(['send', '-s', 'notes', 'go on'])
  assert.deepEqual([next.code, next.stdout], [0, 'Here again.\n'])
  const [session] = await at.talk.sessions()
  assert.deepEqual(session!.said, [
    'user: think',
    'assistant: I think [cancelled]',
    'user: go on',
    'assistant: Here again.',
  ])
})

test('a kill from another terminal ends the process group of the running tool', async () => {
  const mark = randomUUID()
  const loop = `sh -c 'while :; do sleep 1; done' ${mark}`
  const call = { call: 'c1', name: 'bash', args: JSON.stringify({ command: `${loop} & ${loop}` }) }
  await using at = await serve([{ parts: ['I run it. ', call] }, { parts: ['Here again.'] }])
  const send = at.start(['send', '-s', 'notes', '--yolo', 'run'])
  await until('the tool runs', async () => (await livingWith(mark)).length >= 2)
  const { code } = await at.run(['conversation', 'kill', '-s', 'notes'])
  assert.deepEqual([code, (await send.finished).code], [0, 130])
  assert.deepEqual(await leftAfter(mark, GRACE_MS), [])
  const next = await at.run(['send', '-s', 'notes', 'go on'])
  assert.deepEqual([next.code, next.stdout], [0, 'Here again.\n'])
})

test('a detached turn continues after its client has gone, in a daemon that was started for it', async () => {
  const gate = Promise.withResolvers<void>()
  await using talk = await makeTalk([{ parts: ['slow', gate.promise, ' answer'] }])
  const env = WITH_DAEMON
  const sent = await talk.run(['send', '--detach', '-s', 'notes', 'hello'], { env })
  try {
    assert.deepEqual([sent.code, sent.stderr], [0, ''])
    assert.match(sent.stdout, /^[0-9A-Z]{26}\n$/)
    const run = sent.stdout.trim()
    const waiting = talk.start(['wait', run], { env })
    const tail = talk.start(['tail', run], { env })
    await tail.prints(/^notes: hello\ncrab: slow$/)
    gate.resolve()
    const { code, stdout } = await waiting.finished
    assert.deepEqual([code, stdout], [0, 'slow answer\n'])
    await tail.prints(/slow answer\n$/)
    tail.child.kill('SIGINT')
    await tail.finished
    const json = await talk.run(['wait', '--json', run], { env })
    assert.equal(JSON.parse(json.stdout).text, 'slow answer')
  } finally {
    await talk.run(['daemon', 'stop'], { env })
  }
})

test('tail ends at its next output after its reader has gone', async () => {
  await using at = await serve(() => ({ parts: ['more'] }))
  await at.run(['send', '-s', 'notes', 'hello'])
  const script = '{ crabtalk tail crab/notes; echo "$?" >&2; } | head -1'
  let isOver = false
  const shell = at.talk.shell(script, { env: WITH_DAEMON }).finally(() => {
    isOver = true
  })
  await until('tail has ended', async () => {
    await at.run(['send', '-s', 'notes', 'again'])
    return isOver
  })
  const { stdout, stderr } = await shell
  assert.deepEqual([stdout, stderr], ['notes: hello\n', '141\n'])
})

test('attach in a pipe acts as tail', async () => {
  await using at = await serve([{ parts: ['one'] }])
  await at.run(['send', '-s', 'notes', 'hello'])
  const attach = at.start(['attach', 'crab/notes'])
  await attach.prints(/^notes: hello\ncrab: one\n$/)
  attach.child.kill('SIGINT')
  assert.equal((await attach.finished).code, 130)
})

test('attach on a terminal opens the chat on that conversation, and shows what others do there', async () => {
  await using at = await serve([{ parts: ['The crab said one.'] }, { parts: ['The crab said two.'] }])
  await at.run(['send', '-s', 'notes', 'hello'])
  const terminal = at.talk.terminal(['attach', 'crab/notes'], { env: WITH_DAEMON })
  await terminal.shows(/The crab said one\./)
  await at.run(['send', '-s', 'notes', 'and from here'])
  await terminal.shows(/and from here[\s\S]*The crab said two\./)
  terminal.type('\x04')
  assert.equal((await terminal.finished).code, 0)
})

for (const argv of [
  ['asks'],
  ['asks', '--follow'],
  ['answer', '8Z4K2M0Q', '1'],
  ['wait', '01M7ZYNV4YSTE78QY8BXNJSE05'],
]) {
  test(`${argv.join(' ')} reports that no daemon is running, and starts none`, async () => {
    await using talk = await makeTalk([])
    const finished = await talk.run(argv, { env: { ...WITH_DAEMON, CRABTALK_NO_DAEMON: '' } })
    assertFailed(finished, 'unavailable', { message: /no daemon is running/, hint: /crabtalk daemon run/ })
    assert.deepEqual(await talk.processesLeft(), [])
  })
}

for (const argv of [['tail'], ['attach'], ['send', '--detach', 'hi'], ['send', '--on-ask', 'park', 'hi']]) {
  test(`${argv.join(' ')} with --no-daemon reports what is missing`, async () => {
    await using talk = await makeTalk([])
    const { code, stdout, stderr } = await talk.run([...argv, '--no-daemon'], { env: WITH_DAEMON })
    assert.deepEqual([code === 69 || code === 2, stdout], [true, ''])
    assert.match(stderr, /--no-daemon/)
    assert.deepEqual(await talk.processesLeft(), [])
  })
}

test('answering and following do not require the key of the daemon; starting a turn does', async () => {
  await using box = await makeSandbox()
  await using _daemon = await startSandboxDaemon(box, [], { env: { OPENAI_API_KEY: 'sk-one' } })
  const env = { ...WITH_DAEMON, OPENAI_API_KEY: 'sk-other' }
  const asks = await box.run(['asks'], { env })
  assert.deepEqual([asks.code, asks.stderr], [0, 'No pending questions\n'])
  const sent = await box.run(['send', '--detach', 'hi'], { env })
  assertFailed(sent, 'unavailable', {
    message: /OPENAI_API_KEY differs from what the daemon was started with/,
    hint: /daemon/,
  })
})

test('every example in the help of these commands works', async () => {
  const call = { call: 'c1', name: 'bash', args: '{"command":"touch it"}' }
  await using at = await serve((request) => {
    const messages = request.json['messages'] as { role: string }[]
    const isAsking = request.text.includes('ask me') && messages.at(-1)!.role === 'user'
    return { parts: isAsking ? [call] : ['Ready.'] }
  })
  const { talk } = at
  await at.run(['agent', 'create', 'reviewer'])
  await at.run(['send', '-s', 'notes', 'hello'])
  const run = (await at.run(['send', '--detach', '-s', 'notes', 'hello'])).stdout.trim()
  await at.run(['wait', run])
  for (const line of listExamples('attach')) {
    const terminal = talk.terminalShell(line, { env: WITH_DAEMON })
    await terminal.shows(/Ask anything/)
    terminal.type('\x04')
    assert.equal((await terminal.finished).code, 0, line)
  }
  for (const line of listExamples('tail')) {
    const [command = ''] = line.split(' | ')
    const tail = at.start(command.split(' ').slice(1))
    await tail.prints(/Ready\./)
    tail.child.kill('SIGINT')
    assert.equal((await tail.finished).code, 130, line)
  }
  for (const line of [...listExamples('wait'), ...listExamples('asks'), ...listExamples('answer')]) {
    const asking = (await at.run(['send', '-d', '--on-ask', 'park', 'ask me'])).stdout.trim()
    let id = ''
    await until('a question waits', async () => {
      const [ask] = JSON.parse((await at.run(['asks', '--json'])).stdout)
      id = ask?.id.slice(-8) ?? ''
      return id !== ''
    })
    const command = line.split(' | ')[0]!.replace('01M7ZYNV4YSTE78QY8BXNJSE05', run).replace('8Z4K2M0Q', id)
    const { code, stdout, stderr } = await talk.shell(command, { env: WITH_DAEMON })
    assert.deepEqual([code, stderr], [0, ''], line)
    assert.notEqual(stdout, '', line)
    await at.run(['answer', id, '4'])
    await at.run(['wait', asking])
  }
})

function listExamples(name: string): readonly string[] {
  return CRABTALK.find(({ path }) => path[0] === name)!.examples
}
