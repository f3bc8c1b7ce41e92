import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryRules } from '../../../src/core/config/entry-rules.ts'
import { decide } from '../../../src/core/policy/decide.ts'
import { makePolicyContext } from '../../support/policy-context.ts'

test('"entryRules() makes rules from an entry\'s permissions"', () => {
  assert.deepEqual(
    entryRules({ name: 'fs' }, () => 'x'),
    [],
  )
  const permissions = { allow: ['read_*', 'a(b)\\c'], deny: ['*'], ask: ['x'] }
  assert.deepEqual(
    entryRules({ name: 'fs', permissions }, () => 'agents/a.toml:7'),
    [
      { effect: 'deny', pattern: 'mcp__fs__*', source: 'agents/a.toml:7' },
      { effect: 'ask', pattern: 'mcp__fs__x', source: 'agents/a.toml:7' },
      { effect: 'allow', pattern: 'mcp__fs__read_*', source: 'agents/a.toml:7' },
      { effect: 'allow', pattern: 'mcp__fs__a\\(b\\)\\\\c', source: 'agents/a.toml:7' },
    ],
  )
})

test('entryRules() returns rules about the tools of that server, with the names that it gives them', () => {
  const permissions = { allow: ['read/*', 'a(b)'], deny: ['read/secret'] }
  const rules = entryRules({ name: 'fs', permissions }, () => 'x')
  const effect = (server: string, tool: string) => {
    const name = `mcp__${server}__${tool.replace(/\W/g, '_')}`
    return decide({ kind: 'mcp', name, server, tool }, makePolicyContext({ rules })).effect
  }
  assert.equal(effect('fs', 'read/file'), 'allow')
  assert.equal(effect('fs', 'a(b)'), 'allow')
  assert.equal(effect('fs', 'read/secret'), 'deny')
  assert.equal(effect('fs', 'write/file'), 'ask')
  assert.equal(effect('other', 'read/file'), 'ask')
})
