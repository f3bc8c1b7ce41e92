import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callFor, unknownTool } from '../../../src/core/provider/demo-calls.ts'
import type { ToolSpec } from '../../../src/core/provider/types.ts'

const TEXT = { type: 'string' }
const ECHO = { properties: { message: TEXT }, required: ['message'] }
const TOOLS = [
  ...['bash', 'glob', 'grep', 'write', 'read'].map((name) => tool(name, {})),
  tool('mcp__ev__echo', ECHO, { server: 'ev', alias: 'echo' }),
  tool(
    'mcp__ev__sum',
    { properties: { a: TEXT, b: TEXT }, required: ['a', 'b'] },
    { server: 'ev', alias: 'sum' },
  ),
  tool(
    'mcp__ev__count',
    { properties: { n: { type: 'number' } }, required: ['n'] },
    { server: 'ev', alias: 'count' },
  ),
  tool('mcp__ev__bare', {}, { server: 'ev', alias: 'bare' }),
]

for (const [request, name, args] of [
  ['run npm test', 'bash', { command: 'npm test' }],
  ['!ls | wc -l', 'bash', { command: 'ls | wc -l' }],
  ['Run `cat <<E\na\nE`\n', 'bash', { command: 'cat <<E\na\nE' }],
  ['list files', 'glob', { pattern: '*' }],
  ['List the files in src', 'glob', { pattern: '*', path: 'src' }],
  ["find '**/*.ts'", 'glob', { pattern: '**/*.ts' }],
  ['search for to do', 'grep', { pattern: 'to do' }],
  ['grep "^a"', 'grep', { pattern: '^a' }],
  ['write notes/a.txt: one\ntwo', 'write', { path: 'notes/a.txt', content: 'one\ntwo\n' }],
  ['read a.txt', 'read', { path: 'a.txt' }],
  ['call grep {"pattern": "x"}', 'grep', { pattern: 'x' }],
  ['call sum {"a": "1"}', 'mcp__ev__sum', { a: '1' }],
  ['call mcp__ev__bare', 'mcp__ev__bare', {}],
  ['Echo the word crab', 'mcp__ev__echo', { message: 'the word crab' }],
  ['echo', undefined, {}],
  ['sum 1 2', undefined, {}],
  ['count 3', undefined, {}],
  ['bare words', undefined, {}],
  ['find me the fault', undefined, {}],
  ['running late', undefined, {}],
  ['call nothing {}', undefined, {}],
  ['call echo with care', undefined, {}],
] as const) {
  test(`callFor() reads ${JSON.stringify(request)}`, () => {
    const call = callFor(request, TOOLS)
    assert.deepEqual([call?.name, JSON.parse(call?.arguments ?? '{}')], [name, args])
  })
}

test('callFor() calls only what is offered', () => {
  for (const request of [
    'run ls',
    'list files',
    'grep x',
    'write a: b',
    'read a.txt',
    'echo hi',
    'call bash {}',
  ])
    assert.equal(callFor(request, []), undefined, request)
})

test('callFor() passes on invalid JSON arguments, for the tool to reject', () => {
  assert.equal(callFor('call echo {nonsense}', TOOLS)?.arguments, '{nonsense}')
})

test('callFor() is fast for a prompt of megabytes', () => {
  for (const start of ['read ', 'run', 'find ', 'x'])
    assert.equal(callFor(start + 'y '.repeat(1_000_000), TOOLS)?.name, undefined)
})

test('unknownTool() returns the requested name that is not offered', () => {
  assert.equal(unknownTool('call nothing {}', TOOLS), 'nothing')
  assert.equal(unknownTool('call echo {}', TOOLS), undefined)
  assert.equal(unknownTool('echo hi', TOOLS), undefined)
})

function tool(name: string, parameters: ToolSpec['parameters'], more: Partial<ToolSpec> = {}): ToolSpec {
  return { name, description: '', parameters, ...more }
}
