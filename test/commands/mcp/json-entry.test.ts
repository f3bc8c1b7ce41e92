import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonText, readPastedServers } from '../../../src/commands/mcp/json-entry.ts'

const ONE = { command: 'npx', args: ['-y', 'x'] }
const TWO = JSON.stringify({ mcpServers: { 'My B': { command: 'y' }, a: ONE } })

test('readPastedServers() takes the server of that name, or the only one under that name', () => {
  const read = (text: string, name: string) => {
    const { servers, notices } = readPastedServers(text, name)
    return [...servers.map((one) => [one.name, one.table, ...one.notices]), ...notices]
  }
  assert.deepEqual(read(JSON.stringify(ONE), 'a'), [['a', ONE]])
  assert.deepEqual(read(JSON.stringify({ mcpServers: { GitHub: ONE } }), 'gh'), [['gh', ONE]])
  assert.deepEqual(read(TWO, 'a'), [['a', ONE]])
  assert.deepEqual(read(TWO, 'my-b'), [['my-b', { command: 'y' }, '"My B" is called my-b here']])
})

test('readPastedServers() takes all servers by their own names without a name', () => {
  const { servers } = readPastedServers(TWO, undefined)
  assert.deepEqual(
    servers.map(({ name }) => name),
    ['my-b', 'a'],
  )
})

test('isJsonText() tells an entry from a command and a name', () => {
  for (const text of ['{', ' {"a":1}', '"a": {', '[{}]', '// servers\n{}', '```json\n{}\n```'])
    assert.ok(isJsonText(text), text)
  for (const text of ['fs', 'npx', './run', 'https://h', '/opt/bin/x', '@scope/x', '"quoted'])
    assert.ok(!isJsonText(text), text)
})

for (const [text, message, hint = /./] of [
  ['{', /it is not valid JSON/],
  ['{"mcpServers": {}}', /it contains no server$/],
  ['{"comand": "x"}', /it contains no server$/, /^did you mean "command"\?$/],
  [
    '{"mcpServers": {"b": {"command": "x"}, "c": {"command": "y"}}}',
    /none of its servers is named a$/,
    /^use one of its names: b, c$/,
  ],
  ['{"mcpServers": {"a": "x"}}', /The server "a" is left out: it is not an object$/],
] as const) {
  test(`readPastedServers() rejects ${text}`, () => {
    assert.throws(() => readPastedServers(text, 'a'), { kind: 'usage', message, hint })
  })
}
