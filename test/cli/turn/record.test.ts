import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blankLine, findRunFailure, isAnswered, RunRecord, toResult } from '../../../src/cli/turn/record.ts'
import { CrabError } from '../../../src/core/base/errors.ts'
import { McpEventKind, StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import type { WireTurnEvent } from '../../../src/core/protocol/turn-fold.ts'

const PLAIN = { failOnToolError: false }
const STRICT = { failOnToolError: true }
const OUTCOME = { exit: 0, error: undefined, structured: undefined, now: 0 }
const CALL = { callId: 'a', name: 'read', arguments: '{}' }

test('RunRecord records the agent, the conversation, and every text', () => {
  const record = recordOf(
    event('start', { agent: 'crab', runId: 'r', sessionId: 's', model: 'm' }),
    ...text('Look', 'ing.'),
    event('toolStart', { calls: [CALL, { ...CALL, callId: 'b' }] }),
    event('toolResult', { callId: 'b', output: '', durationMs: 5, isError: true }),
    event('toolResult', { callId: 'a', output: '', durationMs: 7 }),
    ...text('Found.'),
    event('end', {}),
  )
  assert.deepEqual([record.agent, record.run, record.session, record.model], ['crab', 'r', 's', 'm'])
  assert.deepEqual([record.text, record.lastText], ['Looking.\n\nFound.', 'Found.'])
  assert.deepEqual(toResult(record, OUTCOME).tools, [
    { server: null, name: 'read', calls: 2, errors: 1, ms: 12 },
  ])
  assert.equal(record.toolErrors, 1)
})

test('RunRecord finds the server of an MCP tool', () => {
  const servers = ['fs', '']
  const calls = servers.map((server) => ({ callId: server, name: `tool of ${server}`, server }))
  const results = servers.map((callId) => event('toolResult', { callId, output: '' }))
  assert.deepEqual(
    toResult(recordOf(event('toolStart', { calls }), ...results), OUTCOME).tools.map(({ server }) => server),
    ['fs', null],
  )
})

test('RunRecord records calls that were not permitted, and those without a question', () => {
  const record = recordOf(
    event('toolStart', {
      calls: ['a', 'b', 'c'].map((callId) => ({ callId, name: 'mcp__fs__write', server: 'fs' })),
    }),
    denied('a', 1),
    denied('b', 2),
    denied('c', 3),
  )
  const call = { tool: 'mcp__fs__write', server: 'fs', action: 'write', reason: 'why', rules: ['edit'] }
  assert.deepEqual(record.denied, [
    { ...call, by: 'rule' },
    { ...call, by: 'person' },
    { ...call, by: 'nobody' },
  ])
  assert.deepEqual(record.unattendedDenials, [{ ...call, by: 'nobody' }])
})

test('RunRecord reports when the run waits for tools', () => {
  const record = recordOf(event('toolStart', { calls: [CALL] }))
  assert.equal(record.isActing, true)
  record.apply(event('toolsComplete', {}), 0)
  assert.equal(record.isActing, false)
})

test('RunRecord reports when the run waits for servers', () => {
  const state = (name: string, kind: McpEventKind) => event('mcpState', { name, kind })
  const record = recordOf(state('one', McpEventKind.CONNECTING), state('two', McpEventKind.CONNECTING))
  record.apply(state('one', McpEventKind.CONNECTED), 0)
  assert.equal(record.isActing, true)
  record.apply(state('two', McpEventKind.FAILED), 0)
  assert.equal(record.isActing, false)
})

test('RunRecord keeps an interrupted text, and no empty one', () => {
  const record = recordOf(event('textStart', {}), event('chunk', { content: 'Half' }))
  assert.deepEqual([record.text, record.lastText], ['Half', 'Half'])
  const empty = recordOf(...text('One'), event('textStart', {}), event('textEnd', {}))
  assert.deepEqual([empty.text, empty.lastText], ['One', 'One'])
})

test('RunRecord puts exactly one blank line between texts', () => {
  assert.equal(
    recordOf(...text('a'), ...text('b\n'), ...text('c\n\n'), ...text('d')).text,
    'a\n\nb\n\nc\n\nd',
  )
  assert.deepEqual(['a', 'a\n', 'a\n\n', 'a\n\n\n'].map(blankLine), ['\n\n', '\n', '', ''])
})

test('RunRecord measures from the start of the run', () => {
  const record = new RunRecord({ startedAt: 1_000, agent: '', sender: '' })
  record.apply(event('start', {}), 1_010.04)
  record.apply(event('chunk', { content: 'a' }), 1_200)
  record.apply(event('chunk', { content: 'b' }), 1_300)
  record.apply(event('toolResult', { callId: 'x', output: '', durationMs: 30 }), 1_400)
  assert.deepEqual(record.times(2_000), { total_ms: 1_000, to_request_ms: 10, ttft_ms: 200, tools_ms: 30 })
  const silent = new RunRecord({ startedAt: 0, agent: '', sender: '' })
  assert.deepEqual(silent.times(1.26), { total_ms: 1.3, to_request_ms: null, ttft_ms: null, tools_ms: 0 })
})

/** The ways a turn ends by itself, and the expected result of a command. */
const ENDS: [string, WireTurnEvent[], object, string | undefined][] = [
  ['answered', [...text('yes'), ended('stop')], STRICT, undefined],
  ['ended for a reason nobody knows', [...text('yes'), ended('other')], PLAIN, undefined],
  ['answered with nothing', [ended('stop')], PLAIN, 'empty'],
  ['answered with blanks', [...text(' \n'), ended('stop')], PLAIN, 'empty'],
  ['cut at the output limit', [...text('So'), ended('length')], PLAIN, 'truncated'],
  ['refused', [...text('No'), ended('refused')], PLAIN, 'refused'],
  ['ended at --max-turns', [...text('So'), ended('max_turns')], PLAIN, 'limit'],
  ['ended at --max-cost', [...text('So'), ended('max_cost')], PLAIN, 'limit'],
  ['answered after a tool failed', [toolFailure(), ...text('yes'), ended('stop')], PLAIN, undefined],
  [
    'answered after a tool failed, which matters',
    [toolFailure(), ...text('yes'), ended('stop')],
    STRICT,
    'tool',
  ],
  [
    'refused something by a rule, and answered',
    [denied('a', 1), ...text('yes'), ended('stop')],
    PLAIN,
    undefined,
  ],
  [
    'refused something by a person, and answered',
    [denied('a', 2), ...text('yes'), ended('stop')],
    PLAIN,
    undefined,
  ],
  ['answered without a permission', [denied('a', 3), ...text('yes'), ended('stop')], STRICT, 'denied'],
  ['cut without a permission', [denied('a', 3), ...text('So'), ended('length')], PLAIN, 'denied'],
  ['answered with nothing without a permission', [denied('a', 3), ended('stop')], PLAIN, 'denied'],
  ['failed without a permission', [denied('a', 3), failed('credentials')], PLAIN, 'credentials'],
  ['failed', [...text('So'), failed('credentials')], PLAIN, 'credentials'],
  ['failed on an old daemon', [event('end', { error: 'no' })], PLAIN, 'failed'],
  ['stopped without an end', [...text('So')], PLAIN, 'unavailable'],
]

for (const [how, events, options, kind] of ENDS) {
  test(`findRunFailure() returns ${kind ?? 'a success'} for a run that was ${how}`, () => {
    const failOnToolError = 'failOnToolError' in options && options.failOnToolError === true
    assert.equal(findRunFailure(recordOf(...events), { failOnToolError })?.kind, kind)
  })
}

test('findRunFailure() names the number of model calls at which a turn ended', () => {
  for (const [turns, said] of [
    [1, '1 model call'],
    [100, '100 model calls'],
  ] as const) {
    const error = findRunFailure(
      recordOf(event('end', { turns, detail: { stopReason: 'max_turns' } })),
      PLAIN,
    )
    assert.equal(error?.message, `The turn reached its limit of ${said}`)
  }
})

test('isAnswered() requires a complete answer only', () => {
  const ends: [WireTurnEvent[], boolean][] = [
    [[...text('yes'), ended('stop')], true],
    [[denied('a', 3), toolFailure(), ...text('yes'), ended('stop')], true],
    [[ended('stop')], false],
    [[...text('So'), ended('length')], false],
    [[...text('So'), failed('credentials')], false],
    [[...text('So')], false],
  ]
  for (const [events, answered] of ends) assert.equal(isAnswered(recordOf(...events)), answered)
})

test('toResult() describes an answered run', () => {
  const usage = { promptTokens: 9, completionTokens: 3, totalTokens: 12, cacheHitTokens: 4 }
  const detail = { stopReason: 'stop' }
  const end = event('end', { agent: 'crab', model: 'm2', turns: 2, usage, costUsd: 0.5, detail })
  const record = recordOf(
    event('start', { agent: 'crab', runId: 'r', sessionId: 's', model: 'm1' }),
    ...text('{}'),
    end,
  )
  record.sender = 'ann'
  const { time: _, ...result } = toResult(record, { exit: 0, error: undefined, structured: {}, now: 0 })
  assert.deepEqual(result, {
    v: 1,
    type: 'result',
    ok: true,
    exit: 0,
    status: 'answered',
    agent: 'crab',
    sender: 'ann',
    session: 's',
    run: 'r',
    text: '{}',
    structured: {},
    stop_reason: 'stop',
    model: 'm2',
    turns: 2,
    usage: { input: 9, output: 3, cache_read: 4, cache_write: 0, reasoning: 0 },
    cost_usd: 0.5,
    tools: [],
    todo: null,
    denied: [],
    notices: [],
    error: null,
  })
})

test('toResult() includes the notices of a run, with the server name only where one is known', () => {
  const record = recordOf(
    event('notice', { message: 'a line was skipped' }),
    event('notice', { message: 'it is down', server: 'fs' }),
  )
  const { notices } = toResult(record, { exit: 0, error: undefined, structured: {}, now: 0 })
  assert.deepEqual(notices, [{ message: 'a line was skipped' }, { message: 'it is down', server: 'fs' }])
})

test('toResult() describes a run that did not start, with what is known', () => {
  const error = new CrabError('throttled', 'busy', { hint: 'wait', retryAfterMs: 1_500 })
  const record = new RunRecord({ startedAt: 0, agent: 'crab', sender: '' })
  const { ok, exit, status, run, usage, cost_usd, stop_reason, ...rest } = toResult(record, {
    exit: 75,
    error,
    structured: undefined,
    now: 0,
  })
  assert.deepEqual([ok, exit, status, run], [false, 75, 'throttled', ''])
  assert.deepEqual([usage, cost_usd, stop_reason, rest.structured, rest.turns], [null, null, null, null, 0])
  assert.deepEqual(rest.error, {
    code: 'throttled',
    message: 'busy',
    hint: 'wait',
    retryable: true,
    retry_after_ms: 1_500,
  })
})

function recordOf(...events: WireTurnEvent[]): RunRecord {
  const record = new RunRecord({ startedAt: 0, agent: '', sender: '' })
  for (const one of events) record.apply(one, 0)
  return record
}

function event($case: WireTurnEvent['$case'], value: object): WireTurnEvent {
  return StreamEvent.fromPartial({ event: { $case, value } as WireTurnEvent }).event!
}

function text(...deltas: string[]): WireTurnEvent[] {
  const chunks = deltas.map((content) => event('chunk', { content }))
  return [event('textStart', {}), ...chunks, event('textEnd', {})]
}

function ended(stopReason: string): WireTurnEvent {
  return event('end', { detail: { stopReason } })
}

function failed(kind: string): WireTurnEvent {
  return event('end', { error: 'no', detail: { kind, stopReason: 'failed' } })
}

function toolFailure(): WireTurnEvent {
  return event('toolResult', { callId: 'a', output: '', durationMs: 0, isError: true })
}

function denied(callId: string, by: number): WireTurnEvent {
  const denial = { action: 'write', reason: 'why', rules: ['edit'], by }
  return event('toolResult', { callId, output: '', isError: true, denial })
}
