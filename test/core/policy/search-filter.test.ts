import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchFilter } from '../../../src/core/policy/search-filter.ts'
import { makePolicyContext, ruleList } from '../../support/policy-context.ts'

test('searchFilter() excludes what a rule denies or asks about', () => {
  const rules = [
    'deny read(.env)',
    'ask read(secret/**)',
    'allow read(secret/open)',
    'deny edit(src)',
    'deny bash',
  ]
  const shows = searchFilter(makePolicyContext({ rules: ruleList(rules) }))
  for (const path of ['/ws/a', '/ws/src/b', '/ws/.envrc', '/ws/a/secret/b']) assert.ok(shows(path), path)
  for (const path of ['/ws/.env', '/ws/a/.ENV', '/ws/secret/x', '/ws/secret/open', '/ws/Secret']) {
    assert.ok(!shows(path), path)
  }
})

test('searchFilter() asks about nothing in the mode all', () => {
  const rules = ruleList(['deny read(.env)', 'ask read(secret/**)'])
  const shows = searchFilter(makePolicyContext({ rules, mode: 'all' }))
  assert.deepEqual(['/ws/.env', '/ws/secret/x'].map(shows), [false, true])
})

test('searchFilter() follows the links on the path of a rule', () => {
  const [rule] = ruleList(['deny read(build)'])
  const shows = searchFilter(makePolicyContext({ rules: [{ ...rule!, resolved: 'read(/ws/out)' }] }))
  assert.deepEqual(['/ws/out/x', '/ws/build/x', '/ws/x'].map(shows), [false, false, true])
})
