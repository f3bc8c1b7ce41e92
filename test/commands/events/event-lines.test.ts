import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  EVENT_KINDS,
  toJsonLine,
  toJsonMcp,
  toLine,
  toMcpLine,
} from '../../../src/commands/events/event-lines.ts'
import { EVENT_KIND_NAMES, type KindName } from '../../../src/commands/events/kinds.ts'
import {
  AgentEventKind,
  AgentEventMsg,
  AskKind,
  type DeepPartial,
  McpEventKind,
  McpEventMsg,
} from '../../../src/core/protocol/crabtalk.generated.ts'

const AT = '2026-11-21T12:04:05.000Z'
const TIME = new Date(AT).toTimeString().slice(0, 8)

test('every event kind of the protocol is named by its own name in lower case', () => {
  const wire = Object.entries(AgentEventKind).filter(([name, kind]) => /^[A-Z]/.test(name) && kind >= 0)
  const own = wire.map(([name, kind]) => [name.toLowerCase().replaceAll('_', '-'), kind])
  assert.deepEqual(Object.entries(EVENT_KINDS).sort(), own.sort())
  assert.deepEqual(Object.keys(EVENT_KINDS).sort(), [...EVENT_KIND_NAMES].sort())
})

const ASK = {
  askId: 'a1',
  kind: AskKind.QUESTION,
  questions: [{ question: 'Which?', header: '', options: [] }],
}
const LINES: readonly (readonly [KindName, DeepPartial<AgentEventMsg>, string])[] = [
  ['turn-started', { content: 'gpt-5' }, 'starts with gpt-5'],
  ['tool-start', { content: 'bash(ls), glob' }, 'calls bash(ls), glob'],
  ['tool-result', { content: '3ms', toolOutput: '\n one\ntwo' }, 'result after 3ms: one'],
  ['tool-result', { content: '3ms', toolOutput: 'no', toolIsError: true }, 'failed after 3ms: no'],
  ['tools-complete', {}, 'tools-complete'],
  ['done', { content: 'gpt-5 1k in' }, 'done: gpt-5 1k in'],
  ['turn-failed', { content: 'Cannot\nreach' }, 'failed: Cannot reach'],
  ['text-delta', { content: 'a\n"b' }, 'text-delta "a\\n\\"b"'],
  ['ask-opened', { ask: { ask: ASK } }, 'asks a1: Which?'],
  ['ask-closed', { askClosed: { askId: 'a1', by: 'ann' } }, 'ask a1 is closed: ann'],
]

test('toLine() prints time, agent and event on one line, without control characters', () => {
  for (const [name, more, what] of LINES)
    assert.equal(toLine(event(name, more)), `${TIME}  crab/ann  ${what}`, name)
  const published = event('published', { agent: '', sender: '', content: 'rss x\ny', eventId: 'E1' })
  assert.equal(toLine(published), `${TIME}  event  E1 rss x y`)
  const evil = event('done', {
    agent: 'a\u001b[2J',
    sender: 'b\nc',
    content: '\u001b]0;owned\u0007d\u009b31m',
  })
  assert.equal(toLine(evil), `${TIME}  a/b c  done: d`)
  assert.match(
    toLine(AgentEventMsg.create({ kind: 999 as never })),
    /an event that this version does not know/,
  )
})

test('toJsonLine() contains only the fields of a kind', () => {
  const base = { at: AT, agent: 'crab', sender: 'ann', run: 'R', session: 'S' }
  const calls = [{ callId: 'c', name: 'bash', arguments: '{}', server: '' }]
  assert.deepEqual(toJsonLine(event('tool-start', { content: 'bash', toolCalls: calls })), {
    kind: 'tool-start',
    ...base,
    content: 'bash',
    calls: [{ id: 'c', name: 'bash', arguments: '{}', server: '' }],
  })
  assert.deepEqual(toJsonLine(event('tool-result', { content: '3ms', toolOutput: 'x', toolIsError: true })), {
    kind: 'tool-result',
    ...base,
    content: '3ms',
    output: 'x',
    is_error: true,
  })
  const opened = toJsonLine(event('ask-opened', { ask: { ask: ASK } }))
  assert.deepEqual([opened.kind, opened.ask?.id], ['ask-opened', 'a1'])
  const closed = toJsonLine(
    event('ask-closed', { askClosed: { askId: 'a1', by: 'ann', content: '{"Which?":"x"}' } }),
  )
  assert.deepEqual(closed.ask, { id: 'a1', by: 'ann', content: { 'Which?': 'x' } })
  assert.equal(toJsonLine(event('published', { eventId: 'E1' })).event, 'E1')
  assert.deepEqual(toJsonLine(event('done', { content: 'm' })), { kind: 'done', ...base, content: 'm' })
})

test('servers are shown with their agent, their state, and why they failed', () => {
  const mcp = (kind: McpEventKind, more: DeepPartial<McpEventMsg> = {}) =>
    McpEventMsg.create({ kind, agent: 'crab', name: 'fs', timestamp: AT, ...more })
  assert.equal(
    toMcpLine(mcp(McpEventKind.CONNECTED, { tools: ['a'] })),
    `${TIME}  crab/fs  connected, 1 tool`,
  )
  assert.equal(
    toMcpLine(mcp(McpEventKind.FAILED, { error: 'no\u0007 such' })),
    `${TIME}  crab/fs  failed: no such`,
  )
  assert.deepEqual(toJsonMcp(mcp(McpEventKind.DISCONNECTED, { fingerprint: 'f' })), {
    kind: 'disconnected',
    at: AT,
    agent: 'crab',
    server: 'fs',
    tools: [],
    error: null,
    fingerprint: 'f',
    owners: [],
  })
})

function event(name: KindName, more: DeepPartial<AgentEventMsg> = {}): AgentEventMsg {
  const turn = { agent: 'crab', sender: 'ann', timestamp: AT, runId: 'R', session: 'S' }
  return AgentEventMsg.fromPartial({ ...turn, kind: EVENT_KINDS[name], ...more })
}
