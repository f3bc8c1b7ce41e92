import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from '../../../src/core/policy/decide.ts'
import { deniedFilter, type OfferableTool, offerFilter } from '../../../src/core/policy/offer-filter.ts'
import type { PolicyAction, Trust } from '../../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from '../../support/policy-context.ts'

const BUILT_IN: readonly OfferableTool[] = [
  ...['read', 'glob', 'grep', 'ask_user', 'search_sessions', 'recall'].map((name) => ({
    name,
    readOnly: true,
  })),
  ...['write', 'edit', 'bash', 'remember', 'forget', 'fetch'].map((name) => ({ name })),
]
const SERVED = { name: 'mcp__fs__a_b', server: 'fs', alias: 'a.b' }

function offered(trust: Trust, rules: string[] = [], canAsk = false): string[] {
  const isOffered = offerFilter({ trust, rules: ruleList(rules), canAsk })
  return [...BUILT_IN, SERVED].filter(isOffered).map(({ name }) => name)
}

test('offerFilter() offers a remote turn no tool that is always refused', () => {
  const least = ['read', 'glob', 'grep', 'search_sessions', 'write', 'edit']
  assert.deepEqual(offered('remote'), least)
  assert.deepEqual(offered('remote', ['allow *', 'allow bash', 'unattended allow *']), least)
  assert.deepEqual(offered('remote', [], true), [...least.toSpliced(3, 0, 'ask_user')])
  assert.deepEqual(offered('remote', ['remote allow mcp__fs__a.b']), [...least, 'mcp__fs__a_b'])
  assert.deepEqual(offered('remote', ['remote allow mcp__fs__a_*']), [...least, 'mcp__fs__a_b'])
  assert.deepEqual(offered('remote', ['remote allow mcp__other__*', 'remote allow bash']), least)
  assert.deepEqual(offered('remote', ['remote allow recall']), least.toSpliced(4, 0, 'recall'))
  assert.ok(!offered('remote', ['remote allow *']).includes('bash'))
  assert.ok(!offered('remote', ['remote allow *']).includes('fetch'))
})

test('offerFilter() offers an unattended turn every tool that a rule could allow, and questions only if they are answered', () => {
  const all = [...BUILT_IN, SERVED].map(({ name }) => name)
  assert.deepEqual(offered('local'), all)
  assert.deepEqual(offered('unattended', [], true), all)
  assert.deepEqual(
    offered('unattended'),
    all.filter((name) => name !== 'ask_user'),
  )
})

test('deniedFilter() finds tools of servers that a rule for the turn denies, and no others', () => {
  const denied = (trust: Trust, ...rules: string[]) => {
    return [...BUILT_IN, SERVED]
      .filter(deniedFilter({ trust, rules: ruleList(rules) }))
      .map(({ name }) => name)
  }
  for (const rule of ['mcp__fs__*', 'mcp__fs__a.b', 'mcp__fs__a_b', '*'])
    assert.deepEqual(denied('local', `deny ${rule}`, 'allow mcp__*'), [SERVED.name])
  assert.deepEqual(
    denied('local', 'ask mcp__fs__*', 'deny mcp__other__*', 'deny bash', 'remote deny mcp__fs__*'),
    [],
  )
  assert.deepEqual(denied('remote', 'remote deny mcp__fs__*'), [SERVED.name])
})

test('offerFilter() omits no tool whose call could be allowed', () => {
  const actions: readonly [tool: OfferableTool, action: PolicyAction][] = [
    [{ name: 'write' }, { kind: 'edit', path: '/ws/a', shown: 'a' }],
    [
      { name: 'read', readOnly: true },
      { kind: 'read', path: '/ws/a', shown: 'a' },
    ],
    [{ name: 'bash' }, { kind: 'bash', command: 'make' }],
    [{ name: 'fetch' }, { kind: 'tool', name: 'fetch', harmless: false }],
    [
      { name: 'recall', readOnly: true },
      { kind: 'tool', name: 'recall', harmless: true, own: true },
    ],
    [SERVED, { kind: 'mcp', name: SERVED.name, server: 'fs', tool: 'a.b' }],
  ]
  const rules = [
    'allow *',
    'remote allow *',
    'remote allow bash',
    'remote allow recall',
    'remote allow mcp__*',
    'unattended allow bash(make)',
  ]
  for (const trust of ['local', 'unattended', 'remote'] as const) {
    for (const rule of ['deny nothing', ...rules]) {
      const list = ruleList([rule])
      const isOffered = offerFilter({ trust, rules: list, canAsk: false })
      for (const [tool, action] of actions) {
        const { effect } = decide(action, makePolicyContext({ trust, rules: list }))
        if (effect === 'allow') assert.ok(isOffered(tool), `${trust}: ${tool.name} with ${rule}`)
      }
    }
  }
})
