import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../src/core/base/errors.ts'
import type { Channel } from '../../src/core/policy/trust.ts'
import {
  AskKind,
  CompactionState,
  DeniedBy,
  McpEventKind,
  StreamEvent,
} from '../../src/core/protocol/crabtalk.generated.ts'
import type { AgentEvent } from '../../src/core/runtime/events.ts'
import { toCallInfo, toTokenUsage, toWireEvent } from '../../src/daemon/handlers/stream-events.ts'

const USAGE = { input: 100, output: 20, cache_read: 60, cache_write: 10, reasoning: 5 }
const TOKENS = {
  promptTokens: 100,
  completionTokens: 20,
  totalTokens: 120,
  cacheHitTokens: 60,
  cacheMissTokens: 40,
  reasoningTokens: 5,
  cacheWriteTokens: 10,
}
const BUSY = new CrabError('throttled', 'Cannot call x: busy', { hint: 'wait', retryAfterMs: 1_500 })
const CALL = { id: 'a', name: 'read', arguments: '{"path":"x"}' }
const DENIAL = {
  action: 'bash: rm x',
  reason: 'no rule allows it',
  rules: ['bash(rm x)'],
  by: 'nobody',
} as const
const OWNERS = [{ agent: 'crab', name: 'fs' }]
const QUESTION = {
  ...{ question: 'Which?', header: 'Pick', multiSelect: false },
  options: [{ label: 'A', description: 'the first' }],
}
const PERMISSION = {
  ...{ callId: 'a', tool: 'bash', server: '', arguments: '{}', action: 'bash: rm x', cwd: '/work' },
  ...{ diff: '', reason: 'no rule allows it', rules: ['bash(rm x)'] },
  commands: [{ text: 'rm x', asks: true, reason: 'no rule' }],
  editable: true,
  warnings: ['bash(rm *) would permit more'],
}
const DETAIL = { kind: '', hint: '', retryable: false, retryAfterMs: undefined, stopReason: '' }

/** Every event of a turn, and the wire events that clients get for it. */
const EVENTS: { [T in AgentEvent['type']]: [Extract<AgentEvent, { type: T }>, unknown] } = {
  start: [
    {
      type: 'start',
      agent: 'crab',
      primary: { id: 'a', name: 'crab' },
      runId: 'r',
      sessionId: 's',
      model: 'm',
      line: 7,
    },
    {
      $case: 'start',
      value: { agent: 'crab', runId: 'r', sessionId: 's', model: 'm', messageSeq: 7, effort: '' },
    },
  ],
  'text-start': [
    { type: 'text-start', agent: 'crab' },
    { $case: 'textStart', value: { agent: 'crab' } },
  ],
  text: [
    { type: 'text', delta: 'hi' },
    { $case: 'chunk', value: { content: 'hi' } },
  ],
  'text-end': [
    { type: 'text-end', agent: 'crab' },
    { $case: 'textEnd', value: { agent: 'crab' } },
  ],
  'thinking-start': [
    { type: 'thinking-start', agent: 'crab' },
    { $case: 'thinkingStart', value: { agent: 'crab' } },
  ],
  compaction: [
    { type: 'compaction', state: 'done', before: 9, after: 4, context: 10, archive: 's-1' },
    {
      $case: 'compaction',
      value: { state: CompactionState.DONE, before: 9, after: 4, context: 10, archive: 's-1', error: '' },
    },
  ],
  thinking: [
    { type: 'thinking', delta: 'hm' },
    { $case: 'thinking', value: { content: 'hm' } },
  ],
  'thinking-end': [
    { type: 'thinking-end', agent: 'crab' },
    { $case: 'thinkingEnd', value: { agent: 'crab' } },
  ],
  'tool-start': [
    { type: 'tool-start', calls: [{ ...CALL, server: 'fs' }] },
    {
      $case: 'toolStart',
      value: { calls: [{ callId: 'a', name: 'read', arguments: '{"path":"x"}', server: 'fs' }] },
    },
  ],
  'tool-result': [
    { type: 'tool-result', callId: 'a', output: 'x', durationMs: 7, isError: true, denial: DENIAL },
    {
      $case: 'toolResult',
      value: {
        ...{ callId: 'a', output: 'x', durationMs: 7, isError: true },
        denial: { ...DENIAL, by: DeniedBy.NOBODY },
      },
    },
  ],
  'tool-progress': [
    { type: 'tool-progress', callId: 'a', message: 'half', progress: 1, total: 2 },
    { $case: 'toolProgress', value: { callId: 'a', message: 'half', progress: 1, total: 2 } },
  ],
  ask: [
    { type: 'ask', ask: { id: 'q', kind: 'permission', questions: [QUESTION], permission: PERMISSION } },
    {
      $case: 'askUser',
      value: { askId: 'q', kind: AskKind.PERMISSION, questions: [QUESTION], permission: PERMISSION },
    },
  ],
  'ask-closed': [
    { type: 'ask-closed', askId: 'q', by: 'ann', answers: { 'Which?': 'A' } },
    { $case: 'askClosed', value: { askId: 'q', by: 'ann', content: '{"Which?":"A"}' } },
  ],
  'mcp-state': [
    {
      type: 'mcp-state',
      server: {
        ...{ kind: 'failed', agent: 'crab', name: 'fs', fingerprint: 'f', owners: OWNERS, tools: [] },
        ...{ error: 'exit 1', at: 0 },
      },
    },
    {
      $case: 'mcpState',
      value: {
        ...{ kind: McpEventKind.FAILED, agent: 'crab', name: 'fs', fingerprint: 'f', owners: OWNERS },
        ...{ tools: [], error: 'exit 1', timestamp: '1970-01-01T00:00:00.000Z' },
      },
    },
  ],
  'tools-complete': [{ type: 'tools-complete' }, { $case: 'toolsComplete', value: {} }],
  usage: [
    { type: 'usage', usage: USAGE, context: 200_000 },
    { $case: 'contextUsage', value: { usage: TOKENS, context: 200_000 } },
  ],
  'user-steered': [
    { type: 'user-steered', content: 'wait' },
    { $case: 'userSteered', value: { content: 'wait' } },
  ],
  'steer-returned': [
    { type: 'steer-returned', content: 'late' },
    { $case: 'steerReturned', value: { content: 'late' } },
  ],
  retry: [
    {
      type: 'retry',
      attempt: 2,
      maxAttempts: 10,
      delayMs: 200,
      at: 86_400_000,
      error: BUSY,
      discardedTexts: 1,
    },
    {
      $case: 'retry',
      value: {
        ...{ attempt: 2, maxAttempts: 10, delayMs: 200, nextAt: '1970-01-02T00:00:00.000Z' },
        ...{ kind: 'throttled', message: BUSY.message, discardedTexts: 1 },
      },
    },
  ],
  notice: [
    { type: 'notice', message: 'n', server: 'fs', passing: true },
    { $case: 'notice', value: { message: 'n', server: 'fs', passing: true } },
  ],
  end: [
    {
      type: 'end',
      agent: 'crab',
      model: 'm',
      usage: USAGE,
      turns: 3,
      stopReason: 'stop',
      costUsd: 0.25,
      error: undefined,
    },
    {
      $case: 'end',
      value: {
        agent: 'crab',
        model: 'm',
        turns: 3,
        error: '',
        usage: TOKENS,
        detail: { ...DETAIL, stopReason: 'stop' },
        costUsd: 0.25,
      },
    },
  ],
}

for (const [type, [event, expected]] of Object.entries(EVENTS)) {
  test(`toWireEvent() converts ${type} without loss on the wire`, () => {
    const wire = toWireEvent(event, 'local')
    assert.deepEqual(wire, expected)
    const message = StreamEvent.create({ seq: 0, event: wire })
    assert.deepEqual(StreamEvent.decode(StreamEvent.encode(message).finish()), message)
  })
}

test('toWireEvent() sends the diff of a result, but not over TCP', () => {
  const event = { ...EVENTS['tool-result'][0], diff: '@@' }
  const find = (channel: Channel) => {
    const wire = toWireEvent(event, channel)
    return wire.$case === 'toolResult' && wire.value.diff
  }
  assert.deepEqual([find('local'), find({ kind: 'tcp' })], ['@@', undefined])
})

test('toWireEvent() includes the error of a turn, and leaves unknown usage and cost undefined', () => {
  const end = { type: 'end', agent: 'crab', model: 'm', turns: 0, stopReason: 'failed' } as const
  const failed = toWireEvent({ ...end, usage: undefined, costUsd: undefined, error: BUSY }, 'local')
  assert.deepEqual(failed.value, {
    agent: 'crab',
    model: 'm',
    turns: 0,
    error: 'Cannot call x: busy',
    usage: undefined,
    costUsd: undefined,
    detail: { kind: 'throttled', hint: 'wait', retryable: true, retryAfterMs: 1_500, stopReason: 'failed' },
  })
})

test('toTokenUsage() never counts a negative number of cache misses', () => {
  assert.equal(toTokenUsage({ ...USAGE, input: 10 }).cacheMissTokens, 0)
})

test('toCallInfo() omits what only the provider needs', () => {
  assert.deepEqual(toCallInfo({ ...CALL, meta: { secret: 1 } }), {
    callId: 'a',
    name: 'read',
    arguments: '{"path":"x"}',
    server: '',
  })
})
