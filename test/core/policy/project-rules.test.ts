import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from '../../../src/core/policy/decide.ts'
import type { PolicyAction, Rule, RuleEffect } from '../../../src/core/policy/types.ts'
import { makePolicyContext } from '../../support/policy-context.ts'

test("no stored rule allows a tool of a project's server; those of the turn, the conversation and the entry do", () => {
  const project = { file: '/a/.mcp.json', sha256: 'aa' }
  const action: PolicyAction = { kind: 'mcp', name: 'mcp__pj__who', server: 'pj', tool: 'who', project }
  const decideWith = (projects: Rule['projects'], effect: RuleEffect = 'allow') => {
    const rule = {
      effect,
      pattern: 'mcp__pj__*',
      source: 'agents/crab.toml:3',
      ...(projects && { projects }),
    }
    return decide(action, makePolicyContext({ rules: [rule] }))
  }
  const stored = decideWith(undefined)
  assert.deepEqual(
    [stored.effect, stored.isSavable, stored.offered, stored.reason],
    [
      'ask',
      false,
      ['mcp__pj__who'],
      'agents/crab.toml:3 allows mcp__pj__*, but no stored rule allows tools of a server that a project declares',
    ],
  )
  assert.deepEqual(
    (['any', project, { ...project, sha256: 'bb' }, { ...project, file: '/b/.mcp.json' }] as const).map(
      (projects) => decideWith(projects).effect,
    ),
    ['allow', 'allow', 'ask', 'ask'],
  )
  assert.deepEqual(
    [decideWith(undefined, 'deny').effect, decideWith(undefined, 'ask').effect],
    ['deny', 'ask'],
  )
  assert.equal(decide(action, makePolicyContext({ mode: 'all' })).effect, 'allow')
})
