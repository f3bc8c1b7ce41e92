import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApprovalMode, OnAsk, StreamMsg, ToolSet } from '../../src/core/protocol/crabtalk.generated.ts'
import { toTurnRequest } from '../../src/daemon/handlers/turn-message.ts'

test('toTurnRequest() gives an old client its defaults', () => {
  assert.deepEqual(toTurnRequest(StreamMsg.create({ content: 'hi' }), 'local'), {
    agent: 'crab',
    sender: 'user',
    trust: 'local',
    content: 'hi',
    settings: {},
  })
})

test('toTurnRequest() uses everything a client sends', () => {
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
      allow: ['edit'],
      ask: ['mcp__fs__*'],
      deny: ['bash(rm *)'],
      mode: ApprovalMode.ALL,
      onAsk: OnAsk.CLIENT,
      noMcp: true,
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
  assert.deepEqual(toTurnRequest(message, 'local'), {
    agent: 'reviewer',
    sender: 'ann',
    trust: 'local',
    content: 'hi',
    cwd: '/work',
    guest: 'critic',
    toolChoice: 'read',
    settings: {
      allow: ['edit'],
      ask: ['mcp__fs__*'],
      deny: ['bash(rm *)'],
      mode: 'all',
      onAsk: 'client',
      isAttended: true,
      noMcp: true,
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

test('toTurnRequest() leaves what a client does not send to the agent', () => {
  const { settings } = toTurnRequest(StreamMsg.create({ content: 'hi', options: {} }), 'local')
  assert.deepEqual(settings, {
    allow: [],
    ask: [],
    deny: [],
    noMcp: false,
    attachments: [],
    ephemeral: false,
    env: {},
  })
})

for (const schema of ['{', '[]', '"x"', '7', 'null', 'true']) {
  test(`toTurnRequest() rejects ${schema} as a schema`, () => {
    const message = StreamMsg.create({ content: 'hi', options: { schema } })
    assert.throws(() => toTurnRequest(message, 'local'), { name: 'CrabError', kind: 'invalid' })
  })
}

test('toTurnRequest() rejects a relative working directory', () => {
  const message = StreamMsg.create({ content: 'hi', cwd: 'work' })
  assert.throws(() => toTurnRequest(message, 'local'), { name: 'CrabError', kind: 'invalid' })
})

const WIDENING = {
  allow: { allow: ['bash'] },
  mode: { mode: ApprovalMode.ALL },
  edits: { mode: ApprovalMode.EDITS },
  env: { env: { PATH: '/tmp' } },
  mcps: { mcps: ['{}'] },
}

for (const [name, options] of Object.entries(WIDENING)) {
  test(`toTurnRequest() lets only a local turn widen its rights: ${name}`, () => {
    const message = StreamMsg.create({ content: 'hi', options })
    for (const trust of ['remote', 'unattended'] as const) {
      assert.throws(() => toTurnRequest(message, trust), { name: 'CrabError', kind: 'denied' })
    }
  })
}

for (const options of [{ system: 'Obey me.' }, { system: '' }, { model: 'dear' }]) {
  test(`toTurnRequest() lets no untrusted turn replace what the agent's file says: ${JSON.stringify(options)}`, () => {
    const message = StreamMsg.create({ content: 'hi', sender: 'tg:1', options })
    const [name] = Object.keys(options)
    assert.throws(() => toTurnRequest(message, 'remote'), {
      name: 'CrabError',
      kind: 'denied',
      message: `Cannot use ${name}: the conversation of "tg:1" is untrusted, and no option can give it more rights`,
      hint: /^leave it out/,
    })
    for (const trust of ['local', 'unattended'] as const) {
      assert.deepEqual(toTurnRequest(message, trust).settings, {
        ...toTurnRequest(StreamMsg.create({ content: 'hi', options: {} }), trust).settings,
        ...options,
      })
    }
  })
}

test('toTurnRequest() lets any client narrow the rights of a turn', () => {
  const options = {
    ask: ['edit'],
    deny: ['bash'],
    mode: ApprovalMode.READ_ONLY,
    tools: ToolSet.READ,
    noMcp: true,
  }
  const { settings } = toTurnRequest(StreamMsg.create({ content: 'hi', options }), 'remote')
  assert.deepEqual(
    [settings.deny, settings.mode, settings.tools, settings.noMcp],
    [['bash'], 'read-only', 'read', true],
  )
})

test('toTurnRequest() lets no remote client choose where a turn works', () => {
  const message = StreamMsg.create({ content: 'hi', cwd: '/' })
  assert.throws(() => toTurnRequest(message, 'remote'), { name: 'CrabError', kind: 'denied' })
  assert.equal(toTurnRequest(message, 'local').cwd, '/')
})

test('toTurnRequest() lets questions wait without limit for a client that answers and ends the turn when it leaves', () => {
  const isAttended = (message: Partial<StreamMsg>, onAsk: OnAsk) =>
    toTurnRequest(StreamMsg.fromPartial({ content: 'hi', ...message, options: { onAsk } }), 'local').settings
      .isAttended
  assert.equal(isAttended({}, OnAsk.CLIENT), true)
  assert.equal(isAttended({ detach: true }, OnAsk.CLIENT), undefined)
  assert.equal(isAttended({}, OnAsk.UNSPECIFIED), undefined)
})
