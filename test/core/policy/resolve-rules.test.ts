import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from '../../../src/core/policy/decide.ts'
import { resolvePath } from '../../../src/core/policy/paths.ts'
import { resolveRules } from '../../../src/core/policy/resolve-rules.ts'
import type { RuleEffect } from '../../../src/core/policy/types.ts'
import { linkTree } from '../../support/link-tree.ts'
import { makePolicyContext, ruleList } from '../../support/policy-context.ts'

const TREE = [
  'ws/a.ts',
  'ws/src/b.ts',
  'ws/.env -> ../secret/env',
  'ws/build -> ../outside',
  'ws/key[1] -> ../secret/deep',
  'ws/inner -> src',
  'secret/env',
  'secret/deep/x',
  'outside/x',
  'home -> person',
  'person/notes -> ../data (1)',
  'person/real/n',
  'data (1)/n',
]

/**
 * Returns the effects of rules on reading and changing the file of a path, after resolving links in each
 * rule.
 */
async function readEffects(path: string, rules: string[]): Promise<[RuleEffect, RuleEffect]> {
  await using tree = await linkTree(TREE)
  const place = { workspace: tree.at('ws'), homeDir: tree.at('home') }
  const list = ruleList(rules.map((rule) => rule.replace('ROOT', tree.root)))
  const real = await resolvePath(path.replace('ROOT', tree.root), place)
  const resolved = makePolicyContext({ ...place, rules: await resolveRules(list, place) })
  const effects = (['read', 'edit'] as const).map(
    (kind) => decide({ kind, path: real, shown: path }, resolved).effect,
  )
  return effects as [RuleEffect, RuleEffect]
}

test('a link leads out of the working directory', async () => {
  const paths: [path: string, effects: [RuleEffect, RuleEffect]][] = [
    ['a.ts', ['allow', 'ask']],
    ['inner/b.ts', ['allow', 'ask']],
    ['.env', ['ask', 'ask']],
    ['build/x', ['ask', 'ask']],
    ['build/new', ['ask', 'ask']],
    ['key[1]/x', ['ask', 'ask']],
    ['ROOT/ws/a.ts', ['allow', 'ask']],
    ['../ws/a.ts', ['allow', 'ask']],
    ['../secret/env', ['ask', 'ask']],
    ['build/../ws/a.ts', ['allow', 'ask']],
  ]
  for (const [path, effects] of paths) assert.deepEqual(await readEffects(path, []), effects, path)
})

test('a restricting rule follows the links on its path', async () => {
  const rows: [rules: string[], path: string, effects: [RuleEffect, RuleEffect]][] = [
    [['deny read(.env)'], '.env', ['deny', 'ask']],
    [['deny read(.env)'], 'ROOT/secret/env', ['deny', 'ask']],
    [['deny read(.env)'], 'src/.env', ['deny', 'ask']],
    [['deny edit(build/**)'], 'build/x', ['ask', 'deny']],
    [['deny edit(build)'], 'ROOT/outside/x', ['ask', 'deny']],
    [['deny read(ROOT/ws/build/*)'], 'build/new', ['deny', 'ask']],
    [['deny read(./key\\[1\\])'], 'key[1]/x', ['deny', 'ask']],
    [['ask read(inner/**)'], 'src/b.ts', ['ask', 'ask']],
    [['deny read(~/notes/**)'], 'ROOT/data (1)/n', ['deny', 'ask']],
    [['deny read(~/notes)'], '~/notes/n', ['deny', 'ask']],
    [['deny read(~/real/n)'], 'ROOT/person/real/n', ['deny', 'ask']],
    [['deny read(none/deep)'], 'none/deep/x', ['deny', 'ask']],
    [['deny read(build/none/../x)'], 'build/x', ['deny', 'ask']],
  ]
  for (const [rules, path, effects] of rows) {
    assert.deepEqual(await readEffects(path, rules), effects, `${path} with ${rules}`)
  }
})

test('an allow rule does not follow a link that others may have created', async () => {
  const rows: [rules: string[], path: string, effects: [RuleEffect, RuleEffect]][] = [
    [['allow edit(build/**)'], 'build/x', ['ask', 'ask']],
    [['allow edit(ROOT/ws/build/**)'], 'build/x', ['ask', 'ask']],
    [['allow edit(src/**)'], 'inner/b.ts', ['allow', 'allow']],
    [['allow edit(inner/**)'], 'inner/b.ts', ['allow', 'ask']],
    [['allow read(.env)'], '.env', ['ask', 'ask']],
    [['allow read(~/real/**)'], '~/real/n', ['allow', 'ask']],
    [['allow read(~/real/**)'], 'ROOT/person/real/n', ['allow', 'ask']],
    [['allow read(~/notes/**)'], '~/notes/n', ['ask', 'ask']],
    [['allow read(ROOT/data (1)/**)'], '~/notes/n', ['allow', 'ask']],
    [['allow read(~)'], '~/new', ['allow', 'ask']],
  ]
  for (const [rules, path, effects] of rows) {
    assert.deepEqual(await readEffects(path, rules), effects, `${path} with ${rules}`)
  }
})

test('resolveRules() keeps a rule as it is written, and unchanged without a link', async () => {
  await using tree = await linkTree(TREE)
  const place = { workspace: tree.at('ws'), homeDir: '' }
  const rules = ruleList([
    'allow bash',
    'deny read',
    'deny read(src/*)',
    'deny read(~/x)',
    'allow *',
    'deny mcp__*',
  ])
  assert.deepEqual(await resolveRules(rules, place), rules)
  const [rule] = await resolveRules(ruleList(['deny edit(build/*.js)']), place)
  assert.deepEqual(rule, {
    effect: 'deny',
    pattern: 'edit(build/*.js)',
    source: 'rule 0',
    resolved: `edit(${tree.at('outside')}/*.js)`,
  })
  await assert.rejects(resolveRules(ruleList(['deny nope(']), place), { kind: 'invalid' })
})

test('resolveRules() keeps a rule whose links form a circle', async () => {
  await using tree = await linkTree(['ws/loop -> loop'])
  const rules = ruleList(['deny read(loop/**)'])
  assert.deepEqual(await resolveRules(rules, { workspace: tree.at('ws'), homeDir: '' }), rules)
})
