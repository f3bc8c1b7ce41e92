import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPolicyCall } from '../../src/commands/policy/why.ts'
import type { JsonObject } from '../../src/core/base/message.ts'

/** A typed call, its tool and its arguments. */
const CALLS: [string, string, JsonObject][] = [
  ['bash(rm -rf build)', 'bash', { command: 'rm -rf build' }],
  ['bash(echo "(a)" && (cd x))', 'bash', { command: 'echo "(a)" && (cd x)' }],
  ['bash(a\nb)', 'bash', { command: 'a\nb' }],
  ['bash({ ls; })', 'bash', { command: '{ ls; }' }],
  ['bash({"command":"ls","timeout":5})', 'bash', { command: 'ls', timeout: 5 }],
  ['read(/etc/passwd)', 'read', { path: '/etc/passwd' }],
  ['edit(src/a (1).ts)', 'edit', { path: 'src/a (1).ts' }],
  [' write(x) ', 'write', { path: 'x' }],
  ['grep(src)', 'grep', { path: 'src' }],
  ['grep', 'grep', {}],
  ['mcp__fs__write_file', 'mcp__fs__write_file', {}],
  ['mcp__fs__write_file()', 'mcp__fs__write_file', {}],
  ['mcp__fs__write_file({"path":"x"})', 'mcp__fs__write_file', { path: 'x' }],
  ['ask_user', 'ask_user', {}],
]

for (const [text, tool, args] of CALLS) {
  test(`readPolicyCall() reads ${JSON.stringify(text)}`, () => {
    assert.deepEqual(readPolicyCall(text), { tool, args })
  })
}

/** Invalid calls, and why. */
const MISTAKES: [string, RegExp][] = [
  ['', /it is not a tool name/],
  ['(ls)', /it is not a tool name/],
  ['rm -rf build', /it is not a tool name/],
  ['bash(ls', /it is not a tool name/],
  ['bash', /bash needs a command$/],
  ['bash( )', /bash needs a command$/],
  ['read({"offset":1})', /read needs a path$/],
  ['edit', /edit needs a path$/],
  ['mcp__fs__read(x.md)', /mcp__fs__read takes a JSON object$/],
]

for (const [text, why] of MISTAKES) {
  test(`readPolicyCall() rejects ${JSON.stringify(text)}`, () => {
    assert.throws(() => readPolicyCall(text), { kind: 'usage', message: why, hint: /for example/ })
  })
}
