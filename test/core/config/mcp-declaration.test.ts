import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkMcpEntry,
  findMcpEntry,
  findNameClash,
  putMcpEntry,
  readMcpEntries,
} from '../../../src/core/config/mcp-declaration.ts'

const WHAT = 'Cannot add the server "fs"'

test('checkMcpEntry() returns the entry with stored secrets for placeholders, without empty values of clients', () => {
  const sent = {
    name: 'fs',
    command: 'x',
    url: '',
    args: null,
    auto_restart: true,
    env: { A: '[secret]', B: '2' },
  }
  const stored = [{ name: 'fs', env: { A: 'hush' } }]
  assert.deepEqual(checkMcpEntry(WHAT, sent, stored), {
    name: 'fs',
    command: 'x',
    env: { A: 'hush', B: '2' },
  })
})

test('checkMcpEntry() reports every problem, with the keys of the entry', () => {
  assert.throws(() => checkMcpEntry(WHAT, { name: 'fs', comand: 'x' }, []), {
    kind: 'invalid',
    message: `${WHAT}: unknown key "comand"`,
    hint: 'did you mean "command"?',
  })
  const env = { TOKEN: '[secret]' }
  assert.throws(
    () => checkMcpEntry(WHAT, { name: 'F S', command: 'x', cwd: 'y', env }, []),
    (error: Error) => {
      const [head, ...lines] = error.message.split('\n')
      assert.equal(head, `${WHAT}:`)
      assert.deepEqual(
        lines.map((line) => line.split(' ')[0]),
        ['"name"', '"cwd"', '"env.TOKEN"'],
      )
      return true
    },
  )
})

test('putMcpEntry() replaces the entry of that name in place, and appends a new one', () => {
  const [a, b] = [
    { name: 'a', command: 'x' },
    { name: 'b', command: 'x' },
  ]
  const changed = { name: 'a', command: 'y' }
  assert.deepEqual(putMcpEntry([a, b], changed), [changed, b])
  assert.deepEqual(putMcpEntry([b], changed), [b, changed])
})

test('readMcpEntries() returns the tables of a file', () => {
  assert.deepEqual(readMcpEntries({}), [])
  assert.deepEqual(readMcpEntries({ mcps: ['old', { name: 'a' }] }), [{ name: 'a' }])
})

test('findMcpEntry() finds by name, or suggests the nearest or all names', () => {
  const entries = [{ name: 'files' }, { name: 'github' }]
  assert.equal(findMcpEntry('crab', entries, 'github'), entries[1])
  const message = /^Cannot find the server "\w+": the agent "crab" does not have it$/
  const missing = (name: string, hint: string, among: { name: string }[] = entries) =>
    assert.throws(() => findMcpEntry('crab', among, name), { kind: 'missing', message, hint })
  missing('gihtub', 'did you mean "github"?')
  missing('zzz', 'its servers are "files", "github"')
  missing('zzz', 'crab has no servers; crabtalk mcp catalog lists some to install', [])
})

test('findNameClash() detects names whose tools would have the same names', () => {
  assert.equal(findNameClash([{ name: 'my-db' }], 'my_db'), 'my-db')
  assert.equal(findNameClash([{ name: 'my-db' }], 'mydb'), undefined)
})
