import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from '../../../src/core/policy/decide.ts'
import type { PolicyAction, PolicyContext, RuleEffect } from '../../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from '../../support/policy-context.ts'

const fetch: PolicyAction = { kind: 'tool', name: 'fetch', harmless: false }
const served: PolicyAction = { kind: 'mcp', name: 'mcp__fs__a', server: 'fs', tool: 'a' }

function read(path: string): PolicyAction {
  return { kind: 'read', path, shown: path }
}

function edit(path: string): PolicyAction {
  return { kind: 'edit', path, shown: path }
}

function bash(command: string): PolicyAction {
  return { kind: 'bash', command }
}

function check(
  rows: readonly [effect: RuleEffect, rules: string[], actions: PolicyAction[]][],
  more: Partial<PolicyContext> = {},
) {
  for (const [effect, rules, actions] of rows) {
    for (const action of actions) {
      const decision = decide(action, makePolicyContext({ rules: ruleList(rules), ...more }))
      assert.equal(decision.effect, effect, `${JSON.stringify(action)} with ${rules.join(', ')}`)
    }
  }
}

test('rules of its own table give a remote turn more, but never commands or fetches', () => {
  check(
    [
      ['allow', ['remote allow read(/etc/**)'], [read('/etc/a')]],
      ['allow', ['remote allow edit(~/shared/**)'], [edit('/home/ann/shared/a')]],
      ['allow', ['remote allow mcp__fs__*'], [served]],
      ['deny', ['remote allow fetch', 'remote allow *'], [fetch]],
      ['deny', ['remote allow bash', 'remote allow *'], [bash('ls')]],
      ['ask', ['remote ask mcp__*'], [served]],
      ['deny', ['remote deny edit'], [edit('/ws/a')]],
    ],
    { trust: 'remote' },
  )
})

test('user permissions apply to local turns only, and restrictions to every turn', () => {
  const others = ['unattended', 'remote'] as const
  for (const trust of others) {
    const [other] = others.filter((one) => one !== trust)
    const without = trust === 'remote' ? 'deny' : 'ask'
    check(
      [
        [without, ['allow *', 'allow edit(/**)', `${other} allow *`], [edit('/etc/a'), served]],
        ['allow', [`${trust} allow *`], [edit('/etc/a'), served]],
        ['deny', [`${trust} allow *`, 'deny edit', 'deny mcp__*'], [edit('/etc/a'), served]],
        ['ask', [`${trust} allow *`, 'ask *'], [edit('/etc/a'), read('/ws/a')]],
        ['allow', [`${other} deny *`], [read('/ws/a')]],
      ],
      { trust },
    )
  }
  check([['ask', ['remote allow *', 'unattended allow *', 'remote deny *'], [edit('/ws/a'), bash('make')]]])
})
