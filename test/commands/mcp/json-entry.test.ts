import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJsonEntry } from '../../../src/commands/mcp/json-entry.ts'
import type { JsonObject } from '../../../src/core/base/message.ts'

const ONE = { command: 'npx', args: ['-y', 'x'] }

/** A snippet of a documentation page, and the resulting entry with the name `a`. */
const FORMS: [JsonObject, JsonObject][] = [
  [ONE, ONE],
  [{ name: 'other', ...ONE }, ONE],
  [{ mcpServers: { github: ONE } }, ONE],
  [{ mcpServers: { b: { command: 'y' }, a: ONE } }, ONE],
  [{ servers: { a: { type: 'http', url: 'https://h' } } }, { url: 'https://h', transport: 'http' }],
  [
    { type: 'sse', url: 'https://h' },
    { url: 'https://h', transport: 'sse' },
  ],
  [
    { type: 'http', transport: 'sse', url: 'https://h' },
    { url: 'https://h', transport: 'sse' },
  ],
]

for (const [object, entry] of FORMS) {
  test(`readJsonEntry() reads ${JSON.stringify(object)}`, () => {
    assert.deepEqual(readJsonEntry(JSON.stringify(object), 'a'), entry)
  })
}

for (const [text, message, hint = /"command"/] of [
  ['{', /it is not a JSON object$/],
  ['{"mcpServers": {}}', /it has no server$/],
  ['{"comand": "x"}', /no server, and comand is not a key of one$/, /^did you mean "command"\?$/],
  [
    '{"mcpServers": {"b": {"command": "x"}, "c": {"command": "y"}}}',
    /none of its servers is named a$/,
    /^use one of its names: b, c$/,
  ],
  ['{"mcpServers": {"a": "x"}}', /it has no server$/],
] as const) {
  test(`readJsonEntry() rejects ${text}`, () => {
    assert.throws(() => readJsonEntry(text, 'a'), { kind: 'usage', message, hint })
  })
}
