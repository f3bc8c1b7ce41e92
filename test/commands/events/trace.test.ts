import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toTree } from '../../../src/commands/events/trace.ts'
import { type DeepPartial, FiredState, TracedEvent } from '../../../src/core/protocol/crabtalk.generated.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

test('toTree() puts events below the runs that ended with them, and runs below the events that started them', () => {
  const events = [
    event('e1', {
      source: 'rss',
      payload: 'two\nlines',
      fired: [run('scout', 'r1', FiredState.DONE), run('clerk', 'r2', FiredState.RUNNING)],
    }),
    event('e2', {
      source: 'tick',
      payload: '',
      fired: [run('gone', '', FiredState.REFUSED, 'no such agent')],
    }),
    event('e3', {
      source: 'agent:scout:done',
      runId: 'r1',
      fired: [run('crab', 'r3', FiredState.FAILED, 'why')],
    }),
    event('e4', { source: 'agent:crab:failed', runId: 'r3' }),
    event('e5', { source: 'agent:crab:done', runId: 'a run that no event began' }),
  ]
  assert.deepEqual(toTree(events, NOW), [
    'rss  e1  1m ago  two lines',
    '├─ scout  done  r1',
    '│  └─ agent:scout:done  e3  1m ago  p',
    '│     └─ crab  failed  r3  why',
    '│        └─ agent:crab:failed  e4  1m ago  p',
    '└─ clerk  running  r2',
    'tick  e2  1m ago',
    '└─ gone  refused  no such agent',
    'agent:crab:done  e5  1m ago  p',
  ])
})

test('toTree() removes control characters', () => {
  const [line] = toTree([event('e1', { source: 's', payload: '\u001b[2J\u0007x\u009b1my' })], NOW)
  assert.equal(line, 's  e1  1m ago  xy')
})

function event(id: string, more: DeepPartial<TracedEvent>): TracedEvent {
  const publishedAt = new Date(NOW - 60_000).toISOString()
  return TracedEvent.fromPartial({ id, source: 's', payload: 'p', publishedAt, ...more })
}

function run(agent: string, runId: string, state: FiredState, error = '') {
  return { agent, runId, state, error }
}
