import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OnAsk } from '../../../src/core/protocol/crabtalk.generated.ts'
import type { Reply } from '../../support/model-server.ts'
import { serveCommands } from '../../support/served-commands.ts'

const RUN: Reply = { parts: [{ call: 'c1', name: 'bash', args: '{"command":"rm -rf build"}' }] }

test('send --detach prints the id of a run and exits; wait prints its answer', async () => {
  const gate = Promise.withResolvers<void>()
  await using served = await serveCommands([{ parts: ['an answer', gate.promise, ' of two parts'] }])
  const sent = await served.run(['send', '--detach', '--no-stdin', '-s', 'notes', 'hi'])
  assert.match(sent.stdout, /^[0-9A-Z]{26}\n$/)
  assert.deepEqual([sent.code, sent.stderr], [0, ''])
  const run = sent.stdout.trim()
  await using waiting = await served.start(['wait', run])
  const late = await served.run(['wait', run, '--timeout', '0.01s'])
  assert.deepEqual([late.code, late.stdout], [124, ''])
  assert.match(late.stderr, /error\[timeout\]: .* and continues\n/)
  gate.resolve()
  assert.equal(await waiting.finished, 0)
  assert.equal(waiting.at.stdout(), 'an answer of two parts\n')
  const json = JSON.parse((await served.run(['wait', run, '--json'])).stdout)
  assert.deepEqual(
    [json.type, json.ok, json.text, json.run, json.sender, json.session !== ''],
    ['result', true, 'an answer of two parts', run, 'notes', true],
  )
})

test('send --detach --output json prints the run and its conversation', async () => {
  await using served = await serveCommands([{ parts: ['x'] }])
  const { stdout } = await served.run(['send', '-d', '-o', 'json', '--no-stdin', '-s', 'notes', 'hi'])
  const { run, ...rest } = JSON.parse(stdout)
  assert.match(run, /^[0-9A-Z]{26}$/)
  const named = { agent: 'crab', sender: 'notes', error: null }
  assert.deepEqual(rest, { v: 1, type: 'detached', ok: true, exit: 0, ...named })
  assert.equal((await served.run(['wait', run])).code, 0)
})

test('send --detach fails as send does when the turn cannot start', async () => {
  await using served = await serveCommands([])
  const { code, stdout, stderr } = await served.run(['send', '-d', '--no-stdin', '-a', 'nobody', 'hi'])
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^crabtalk: error\[missing\]: .*nobody/)
})

test('wait exits as send would for a run that failed', async () => {
  await using served = await serveCommands([{ status: 401, body: { error: { message: 'no' } } }])
  const run = await detach(served)
  const { code, stdout, stderr } = await served.run(['wait', run])
  assert.deepEqual([code, stdout], [77, ''])
  assert.match(stderr, /^crabtalk: error\[credentials\]: /)
})

test('wait exits 4 with the rules when a call needed permission that could not be given', async () => {
  await using served = await serveCommands([RUN, { parts: ['I could not.'] }])
  const run = await detach(served)
  const { code, stdout, stderr } = await served.run(['wait', run])
  assert.deepEqual([code, stdout], [4, 'I could not.\n'])
  assert.match(stderr, /denied bash: rm -rf build .*--allow 'bash\(rm -rf build\)'/)
  const { denied, tools } = JSON.parse((await served.run(['wait', run, '--json'])).stdout)
  assert.deepEqual(
    [denied[0].tool, denied[0].server, denied[0].by, tools[0].name, tools[0].errors],
    ['bash', null, 'nobody', 'bash', 1],
  )
})

test('wait reports an unknown run', async () => {
  await using served = await serveCommands([])
  for (const [word, message] of [
    ['01M7ZYNV4YSTE78QY8BXNJSE05', /error\[missing\]: Cannot find run 01M7ZYNV4YSTE78QY8BXNJSE05/],
    ['BXNJSE05', /error\[missing\]: Cannot find run BXNJSE05: no active run has an id ending in/],
  ] as const) {
    const { code, stderr } = await served.run(['wait', word])
    assert.match(stderr, message)
    assert.equal(code, 1)
  }
})

test('Ctrl-C on wait does not affect the run', async () => {
  const gate = Promise.withResolvers<void>()
  await using served = await serveCommands([{ parts: ['one', gate.promise, ' two'] }])
  const run = await detach(served)
  await using waiting = await served.start(['wait', run])
  assert.equal(await waiting.end('SIGINT'), 130)
  gate.resolve()
  assert.equal((await served.run(['wait', run])).stdout, 'one two\n')
})

test('conversation kill ends the run, and the conversation continues', async () => {
  await using served = await serveCommands([{ parts: ['one'], end: 'hang' }, { parts: ['fine'] }])
  const { requests } = served.daemon.server
  const run = await detach(served)
  await using tail = await served.start(['tail', '-s', 'notes'])
  await tail.prints(/crab: one/)
  const killed = await served.run(['conversation', 'kill', 'crab/notes'])
  assert.deepEqual([killed.stdout, killed.stderr], ['interrupted crab/notes\n', ''])
  assert.equal(await requests[0]!.done, false)
  assert.equal((await served.run(['wait', run])).code, 130)
  await tail.prints(/crab: one\n• cancelled\n$/)
  const next = await served.run(['send', '--no-stdin', '-s', 'notes', 'again'])
  assert.deepEqual([next.code, next.stdout], [0, 'fine\n'])
  assert.equal(
    (await served.run(['conversation', 'kill', '-s', 'notes'])).stdout,
    'nothing is running in crab/notes\n',
  )
  assert.equal((await served.run(['conversation', 'kill', 'crab/nobody'])).code, 1)
  assert.equal((await served.run(['conversation', 'kill', run])).code, 1)
})

test('a parked question outlives the client that detached, and the run continues after the answer', async () => {
  await using served = await serveCommands([RUN, { parts: ['Gone.'] }])
  const run = await detach(served, ['--on-ask', 'park'])
  await using waiting = await served.start(['wait', run])
  await using asks = await served.start(['asks', '--follow'])
  await asks.prints(/rm -rf build/)
  const [ask] = served.daemon.services.asks.list('')
  assert.equal(ask?.hasTimeLimit, false)
  assert.equal((await served.run(['answer', ask.ask.id, '5', 'not', 'that'])).code, 0)
  assert.equal(await waiting.finished, 0)
  assert.equal(waiting.at.stdout(), 'Gone.\n')
  await asks.prints(/closed: bob/)
})

test('send --on-ask park waits for its answer, and says how to give it', async () => {
  await using served = await serveCommands([RUN, { parts: ['Gone.'] }])
  await using send = await served.start(['send', '--no-stdin', '--on-ask', 'park', 'go'])
  await send.prints(
    /^crabtalk: crab asks: may it run in .*: rm -rf build; answer with crabtalk answer \w{8}\n$/,
    'stderr',
  )
  const [, id = ''] = /answer with crabtalk answer (\w{8})/.exec(send.at.stderr()) ?? []
  assert.equal((await served.run(['answer', id, '4'])).code, 0)
  assert.equal(await send.finished, 0)
  assert.equal(send.at.stdout(), 'Gone.\n')
})

test('a turn that is not detached removes its parked question when it ends', async () => {
  await using served = await serveCommands([RUN])
  const stop = new AbortController()
  const turn = served.daemon.ask('go', { options: { onAsk: OnAsk.PARK } }, stop.signal)
  await using asks = await served.start(['asks', '--follow', '--json'])
  await asks.prints(/"ask\.opened"/)
  stop.abort()
  await turn.catch(() => undefined)
  await asks.prints(/"type":"ask\.closed".*"by":"cancelled"/)
})

test('conversation list shows active runs and pending questions', async () => {
  const gate = Promise.withResolvers<void>()
  await using served = await serveCommands(({ json }) => {
    const text = JSON.stringify(json['messages'])
    if (text.includes('ask me')) return text.includes('"tool"') ? { parts: ['ok'] } : RUN
    return text.includes('slowly') ? { parts: ['one', gate.promise] } : { parts: ['fine'] }
  })
  const turns = [
    served.daemon.ask('quick', { sender: 'a' }),
    served.daemon.ask('slowly', { sender: 'b' }),
    served.daemon.ask('ask me', { sender: 'c', options: { onAsk: OnAsk.PARK } }),
  ]
  await turns[0]
  await using asks = await served.start(['asks', '--follow'])
  await asks.prints(/rm -rf build/)
  const rows = JSON.parse((await served.run(['conversation', 'list', '--json'])).stdout)
  assert.deepEqual(rows.map(({ sender, state }: Record<string, string>) => `${sender} ${state}`).toSorted(), [
    'a idle',
    'b running',
    'c asks',
  ])
  const { stdout } = await served.run(['conversation', 'list'])
  assert.match(stdout, / {2}\[running\] slowly\n/)
  assert.match(stdout, / {2}\[asks you\] ask me\n/)
  gate.resolve()
  await served.run(['conversation', 'kill', 'crab/c'])
  await Promise.all(turns)
})

async function detach(
  served: Awaited<ReturnType<typeof serveCommands>>,
  more: readonly string[] = [],
): Promise<string> {
  const { stdout } = await served.run(['send', '-d', '--no-stdin', '-s', 'notes', ...more, 'hi'])
  return stdout.trim()
}
