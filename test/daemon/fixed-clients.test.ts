import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { forFixedClients, parseReply } from '../../src/daemon/fixed-clients.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import { testFixedClients } from '../support/fixed-client-turns.ts'
import { decodeFixed, encodeFixed } from '../support/fixed-wire.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

const VECTORS = join(import.meta.dirname, '../core/protocol/fixtures/wire-vectors.txt')

test('the strict client encodes and decodes the golden frames of clients, and rejects an empty message', () => {
  const lines = readFileSync(VECTORS, 'utf8').split('\n')
  const rows = lines.filter((line) => line.startsWith('C ') && !line.startsWith('C empty'))
  assert.ok(rows.length > 15)
  for (const row of rows) {
    const payload = Buffer.from(row.split(' | ')[1]!.slice(8), 'hex')
    assert.deepEqual(encodeFixed('ClientMessage', decodeFixed('ClientMessage', payload)), payload, row)
  }
  assert.throws(() => decodeFixed('StreamEvent', Buffer.from('ea0300', 'hex')), /empty StreamEvent/)
})

test('a typed reply to several questions answers the first, and picks several options by number', () => {
  const options = ['Red', 'Blue', 'Green'].map((label) => ({ label, description: '' }))
  const [one, two] = ['one?', 'two?'].map((question) => ({
    question,
    header: '',
    options,
    multiSelect: true,
  }))
  assert.deepEqual(parseReply('1, green', [one!, two!]), { 'one?': 'Red, Green', 'two?': '' })
  assert.deepEqual(parseReply('4', [one!]), { 'one?': '4' })
  assert.deepEqual(parseReply('{"two?":"BLUE"}', [one!, two!]), { 'one?': '', 'two?': 'Blue' })
})

test('a question to such a client has a time limit, because its user may close it without an answer', async () => {
  const call = { call: 'a', name: 'ask_user', args: '{"questions":[{"question":"Which one?"}]}' }
  await using node = await startTestDispatch([{ parts: [call] }, { parts: ['Done.'] }])
  const { services } = node
  const dispatch = forFixedClients(route(handlers(services, 'local', {}, 'fixed')), {
    services,
    channel: 'local',
  })
  const limits: boolean[] = []
  for await (const { event } of streamTurn(
    dispatch,
    { agent: 'crab', sender: 'ann', content: 'go' },
    NEVER,
  )) {
    if (event?.$case !== 'askUser') continue
    limits.push(...services.asks.list('').map(({ hasTimeLimit }) => hasTimeLimit))
    await request(dispatch, 'replyToAsk', { agent: '', sender: 'ann', content: 'that one' }, NEVER)
  }
  assert.deepEqual(limits, [true])
})

testFixedClients()
