import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StreamMsg, ToolSet } from '../../src/core/protocol/crabtalk.generated.ts'
import { toTurnRequest } from '../../src/daemon/handlers/turn-message.ts'

test('toTurnRequest() gives an old client its defaults', () => {
  assert.deepEqual(toTurnRequest(StreamMsg.create({ content: 'hi' })), {
    agent: 'crab',
    sender: 'user',
    content: 'hi',
    settings: {},
  })
})

test('toTurnRequest() takes everything a client says', () => {
  const message = StreamMsg.create({
    agent: 'reviewer',
    sender: 'ann',
    content: 'hi',
    cwd: '/work',
    guest: 'critic',
    toolChoice: 'read',
    options: {
      model: 'm',
      system: '',
      tools: ToolSet.NONE,
      schema: '{"type":"object"}',
      maxTurns: 3,
      maxCost: 0,
      thinking: false,
      retries: 0,
      ephemeral: true,
      env: { LANG: 'C' },
      attachments: [
        { mediaType: 'image/png', data: new Uint8Array([0, 1, 255]), name: 'a.png' },
        { mediaType: 'image/gif', data: new Uint8Array(), name: '' },
      ],
    },
  })
  assert.deepEqual(toTurnRequest(message), {
    agent: 'reviewer',
    sender: 'ann',
    content: 'hi',
    cwd: '/work',
    guest: 'critic',
    toolChoice: 'read',
    settings: {
      model: 'm',
      system: '',
      tools: 'none',
      schema: { type: 'object' },
      maxTurns: 3,
      maxCostUsd: 0,
      thinking: false,
      retries: 0,
      ephemeral: true,
      env: { LANG: 'C' },
      attachments: [
        { media_type: 'image/png', data: 'AAH/', name: 'a.png' },
        { media_type: 'image/gif', data: '' },
      ],
    },
  })
})

test('toTurnRequest() leaves what a client does not say to the agent', () => {
  const { settings } = toTurnRequest(StreamMsg.create({ content: 'hi', options: {} }))
  assert.deepEqual(settings, { attachments: [], ephemeral: false, env: {} })
})

for (const schema of ['{', '[]', '"x"', '7', 'null', 'true']) {
  test(`toTurnRequest() refuses ${schema} as a schema`, () => {
    const message = StreamMsg.create({ content: 'hi', options: { schema } })
    assert.throws(() => toTurnRequest(message), { name: 'CrabError', kind: 'invalid' })
  })
}

test('toTurnRequest() refuses a working directory that is relative to nothing', () => {
  const message = StreamMsg.create({ content: 'hi', cwd: 'work' })
  assert.throws(() => toTurnRequest(message), { name: 'CrabError', kind: 'invalid' })
})
