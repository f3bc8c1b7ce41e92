import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { Asks, type QueuedAsk } from '../../../src/core/runtime/asks.ts'

const NEVER = new AbortController().signal

test('Asks.wait() returns the answer to the question with that id', async () => {
  const asks = new Asks({ timeoutMs: 60_000 })
  const [first, second] = ['1', '2'].map((id) => asks.wait(pending({ id }), NEVER))
  asks.reply({ agent: 'crab', sender: 'bob', trust: 'local', id: '2' }, '{"Which?":"B"}')
  asks.reply({ agent: 'crab', sender: '', trust: 'local', id: '1' }, '{"Which?":"A"}')
  assert.deepEqual(await first, { by: 'ann', answers: { 'Which?': 'A' } })
  assert.deepEqual(await second, { by: 'bob', answers: { 'Which?': 'B' } })
  assert.deepEqual(asks.list(''), [])
})

test('a question without a time limit is still there after an hour, and can be answered', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const asks = new Asks({ timeoutMs: 300_000 })
  const waiting = asks.wait({ ...pending({ id: '1' }), hasTimeLimit: false }, NEVER)
  const limited = asks.wait({ ...pending({ id: '2' }), hasTimeLimit: true }, NEVER)
  context.mock.timers.tick(3_600_000)
  assert.deepEqual(await limited, { by: 'timeout', answers: undefined })
  assert.deepEqual(
    asks.list('').map(({ ask }) => ask.id),
    ['1'],
  )
  asks.reply({ agent: 'crab', sender: 'ann', trust: 'local', id: '1' }, '{"Which?":"A"}')
  assert.deepEqual(await waiting, { by: 'ann', answers: { 'Which?': 'A' } })
})

test('Asks.reply() without an id answers the oldest question of the pair', async () => {
  const asks = new Asks({ timeoutMs: 60_000 })
  const other = asks.wait(pending({ id: '0', sender: 'bob' }), NEVER)
  const waits = ['1', '2'].map((id) => asks.wait(pending({ id }), NEVER))
  asks.reply({ agent: 'crab', sender: 'ann', trust: 'local' }, '{"Which?":"old"}')
  asks.reply({ agent: 'crab', sender: 'ann', trust: 'local' }, '{"Which?":"new"}')
  assert.deepEqual(
    (await Promise.all(waits)).map(({ answers }) => answers?.['Which?']),
    ['old', 'new'],
  )
  assert.deepEqual(
    asks.list('crab').map(({ sender }) => sender),
    ['bob'],
  )
  asks.reply({ agent: 'crab', sender: 'bob', trust: 'local' }, '{"Which?":"x"}')
  await other
})

for (const [content, problem] of Object.entries({
  '"A"': 'it is not a JSON object',
  '{': 'it is not a JSON object',
  '{}': 'it does not answer "Which\\?"',
  '{"Which?":7}': 'it does not answer "Which\\?"',
})) {
  test(`Asks.reply() rejects ${content}, and the question stays open`, async () => {
    const asks = new Asks({ timeoutMs: 60_000 })
    const wait = asks.wait(pending({ id: '1' }), NEVER)
    const reply = (text: string) =>
      asks.reply({ agent: 'crab', sender: 'ann', trust: 'local', id: '1' }, text)
    assert.throws(() => reply(content), { kind: 'invalid', message: new RegExp(problem) })
    reply('{"Which?":"A"}')
    assert.equal((await wait).answers?.['Which?'], 'A')
  })
}

test('Asks.reply() answers the same question about trust of other turns, if it decides', async () => {
  const asks = new Asks({ timeoutMs: 60_000 })
  const trust = (id: string, sender: string) => asks.wait(pending({ id, kind: 'trust', sender }), NEVER)
  const [first, second] = [trust('1', 'sh:1'), trust('2', 'sh:2')]
  const question = asks.wait(pending({ id: '3', sender: 'sh:3' }), NEVER)
  const ids = () => asks.list('').map(({ ask }) => ask.id)
  asks.reply({ agent: 'crab', sender: 'sh:1', trust: 'local', id: '1' }, '{"Which?":""}')
  assert.deepEqual([(await first).answers, ids()], [{ 'Which?': '' }, ['2', '3']])
  const third = trust('4', 'sh:1')
  asks.reply({ agent: 'crab', sender: 'sh:1', trust: 'local', id: '4' }, '{"Which?":"A"}')
  assert.deepEqual(await third, { by: 'sh:1', answers: { 'Which?': 'A' } })
  assert.deepEqual(await second, { by: 'sh:1', answers: { 'Which?': 'A' } })
  assert.deepEqual(ids(), ['3'])
  asks.reply({ agent: 'crab', sender: 'sh:3', trust: 'local', id: '3' }, '{"Which?":"B"}')
  await question
})

test('Asks.reply() accepts an option, or nothing, as the answer to a trust question', async () => {
  for (const answer of ['A', '']) {
    const asks = new Asks({ timeoutMs: 60_000 })
    const wait = asks.wait(pending({ id: '1', kind: 'trust' }), NEVER)
    const reply = (text: string) =>
      asks.reply(
        { agent: 'crab', sender: 'ann', trust: 'local', id: '1' },
        JSON.stringify({ 'Which?': text }),
      )
    for (const text of ['A, please', 'constructor', ' ']) {
      assert.throws(() => reply(text), { kind: 'invalid', hint: /^answer with A or B;/ })
    }
    reply(answer)
    assert.equal((await wait).answers?.['Which?'], answer)
  }
})

test('Asks.reply() reports an unknown question', () => {
  const asks = new Asks({ timeoutMs: 60_000 })
  assert.throws(() => asks.reply({ agent: 'crab', sender: 'ann', trust: 'local' }, '{}'), { kind: 'missing' })
  assert.throws(() => asks.reply({ agent: 'crab', sender: 'ann', trust: 'local', id: 'x' }, '{}'), {
    kind: 'missing',
  })
})

test('Asks.reply() lets no remote sender give a permission, or answer for a local user', async () => {
  const asks = new Asks({ timeoutMs: 60_000 })
  const waits = [
    asks.wait({ ...pending({ id: '1', kind: 'permission' }), trust: 'remote' }, NEVER),
    asks.wait({ ...pending({ id: '2' }), trust: 'remote' }, NEVER),
    asks.wait(pending({ id: '3' }), NEVER),
  ]
  const reply = (id: string, trust: 'local' | 'remote' | 'unattended') =>
    asks.reply({ agent: 'crab', sender: 'ann', trust, id }, '{"Which?":"A"}')
  assert.throws(() => reply('1', 'remote'), { kind: 'denied' })
  assert.throws(() => reply('1', 'unattended'), { kind: 'denied' })
  assert.throws(() => reply('3', 'remote'), { kind: 'denied' })
  assert.throws(() => reply('3', 'unattended'), { kind: 'denied' })
  reply('2', 'remote')
  reply('1', 'local')
  reply('3', 'local')
  await Promise.all(waits)
})

test('Asks.wait() ends without an answer after the time limit', async () => {
  const asks = new Asks({ timeoutMs: 1 })
  assert.deepEqual(await asks.wait(pending({ id: '1' }), NEVER), { by: 'timeout', answers: undefined })
  assert.deepEqual(asks.list(''), [])
})

test('Asks.wait() keeps a parked question open until it is answered or its turn ends', async () => {
  const asks = new Asks({ timeoutMs: 1 })
  const stop = new AbortController()
  const waits = [
    asks.wait({ ...pending({ id: '1' }), hasTimeLimit: false }, stop.signal),
    asks.wait({ ...pending({ id: '2' }), hasTimeLimit: false }, stop.signal),
  ]
  await asks.wait(pending({ id: '3' }), NEVER) // as long as others may wait
  assert.deepEqual(
    asks.list('').map(({ ask }) => ask.id),
    ['1', '2'],
  )
  asks.reply({ agent: '', sender: 'bob', trust: 'local', id: '1' }, '{"Which?":"A"}')
  stop.abort(new CrabError('cancelled', 'gone'))
  assert.deepEqual(await waits[0], { by: 'bob', answers: { 'Which?': 'A' } })
  await assert.rejects(waits[1]!, { kind: 'cancelled' })
})

test('Asks.wait() ends with its turn', async () => {
  const asks = new Asks({ timeoutMs: 60_000 })
  const stop = new AbortController()
  const wait = asks.wait(pending({ id: '1' }), stop.signal)
  stop.abort(new CrabError('cancelled', 'gone'))
  await assert.rejects(wait, { kind: 'cancelled', message: 'gone' })
  await assert.rejects(asks.wait(pending({ id: '2' }), stop.signal), { kind: 'cancelled' })
  assert.deepEqual(asks.list(''), [])
})

function pending({
  id,
  sender = 'ann',
  kind = 'question',
}: {
  id: string
  sender?: string
  kind?: 'question' | 'permission' | 'trust'
}): QueuedAsk {
  const options = kind === 'trust' ? ['A', 'B'].map((label) => ({ label, description: '' })) : []
  const questions = [{ question: 'Which?', header: 'Pick', options, multiSelect: false }]
  const ask = { id, kind, questions, permission: undefined }
  return {
    agent: 'crab',
    sender,
    trust: 'local',
    session: 's',
    runId: 'r',
    openedAt: 0,
    hasTimeLimit: true,
    ask,
  }
}
