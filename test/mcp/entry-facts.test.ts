import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { McpEntry } from '../../src/core/config/mcp-entry.ts'
import { PolicyEffect } from '../../src/core/protocol/crabtalk.generated.ts'
import { findClearTextCredentials, findIdlePatterns } from '../../src/mcp/entry-facts.ts'

test('findIdlePatterns() returns patterns that match no tool, and servers without any tool for the agent', () => {
  const more = { effect: PolicyEffect.ASK, rule: undefined, description: '', schemaTokens: 0 }
  const look = (entry: Partial<McpEntry>, hidden = '') => {
    const tools = ['echo', 'read_file'].map((remoteName) => ({
      ...more,
      remoteName,
      name: hidden ? '' : remoteName,
      hidden,
    }))
    return findIdlePatterns({ agent: 'crab', entry: { name: 's', command: 'x', ...entry }, tools })
  }
  assert.deepEqual(look({}), [])
  assert.deepEqual(
    look({ include: ['echo', 'read_*'], exclude: ['*_file'], permissions: { deny: ['*'] } }),
    [],
  )
  assert.deepEqual(look({ permissions: { deny: ['read_flie'] } }), [
    {
      message: 'permissions.deny of s has read_flie, but no tool has that name',
      hint: 'did you mean read_file?',
    },
  ])
  assert.deepEqual(look({ exclude: ['write_*'] }), [
    { message: 'exclude of s has write_*, but no tool has that name', hint: 'it has echo, read_file' },
  ])
  const [first, second] = look({ include: ['ecoh'] }, 'include does not have it')
  assert.equal(first?.message, 'include of s has ecoh, but no tool has that name')
  assert.equal(second?.message, 'no tool of s reaches crab: include does not have it')
  assert.deepEqual(
    findIdlePatterns({ agent: 'a', entry: { name: 's', command: 'x', include: ['y'] }, tools: undefined }),
    [],
  )
})

test('findClearTextCredentials() returns the host to which credentials are sent unencrypted', () => {
  const find = (url: string, more: Partial<McpEntry> = {}) =>
    findClearTextCredentials({ name: 's', url, ...more })
  assert.equal(find('http://h.example:80/mcp', { auth: 'x' }), 'h.example')
  assert.equal(find('http://192.168.0.2:8080/mcp', { auth_helper: ['x'] }), '192.168.0.2:8080')
  assert.equal(find('http://h/mcp', { headers: { authorization: 'x' } }), 'h')
  assert.equal(find('http://h/mcp', { headers: { 'X-Api-Key': 'x' } }), 'h')
  assert.equal(find('http://me:x@h/mcp'), 'h')
  for (const url of ['https://h/mcp', 'http://localhost/mcp', 'http://127.0.0.9/mcp', 'http://[::1]/mcp'])
    assert.equal(find(url, { auth: 'x' }), undefined, url)
  assert.equal(find('http://h/mcp', { headers: { 'X-Team': 'x' } }), undefined)
  assert.equal(findClearTextCredentials({ name: 's', command: 'x', env: { TOKEN: 'x' } }), undefined)
})
