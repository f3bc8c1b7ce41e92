import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Reply } from '../support/model-server.ts'
import { assertFailed, configWithFacts, makeTalk, type Talk } from '../support/talk.ts'

const SCHEMA = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
}
const CALL = { call: 'c1', name: 'read', args: '{"path":"a.txt"}' }
const USAGE = { input: 1000, output: 100 }

test('--system replaces the prompt of the agent for this turn, as text or from a file', async () => {
  await using talk = await makeTalk(() => ({ parts: ['ok'] }))
  await writeFile(join(talk.cwd, 'role.md'), 'From a file.\n')
  await talk.send(['--system', 'As text.', '-s', 'me', 'hello'])
  assert.match(readSystemPrompt(talk), /^As text\./)
  await talk.send(['--system', '@role.md', '-s', 'me', 'hello'])
  assert.match(readSystemPrompt(talk), /^From a file\./)
  await talk.send(['-s', 'me', 'hello'])
  assert.match(readSystemPrompt(talk), /^You are crab/)
  assert.doesNotMatch(JSON.stringify(await talk.sessions()), /As text|From a file|You are crab/)
  assertFailed(await talk.send(['--system', '@nosuch', 'hello']), 'no-input', {
    message: /^Cannot read nosuch for --system: it does not exist$/,
  })
})

test('--schema prints the JSON alone, from a file or inline, without a code fence', async () => {
  await using talk = await makeTalk([{ parts: ['{"n":', ' 1}'] }, { parts: ['```json\n{"n": 2}\n```'] }])
  await writeFile(join(talk.cwd, 'schema.json'), JSON.stringify(SCHEMA))
  const { stdout, stderr, code } = await talk.send(['--schema', 'schema.json', 'hello'])
  assert.deepEqual([stdout, stderr, code], ['{"n":1}\n', '', 0])
  const inline = await talk.send(['--schema', JSON.stringify(SCHEMA), '--output', 'json', 'hello'])
  assert.deepEqual(JSON.parse(inline.stdout).structured, { n: 2 })
  assert.match(talk.server.requests[0]?.text ?? '', /"json_schema"/)
})

test('an answer that does not match the schema is requested once more, and then exits 6', async () => {
  const answers = ['{"n":"one"}', '{"n":1}', 'no JSON', '{"n":2.5}', '{"n":3}']
  await using talk = await makeTalk((_, index) => ({ parts: [answers[index] ?? ''] }))
  const repaired = await talk.send(['-q', '-s', 'me', '--schema', JSON.stringify(SCHEMA), 'hello'])
  assert.deepEqual([repaired.stdout, repaired.stderr, repaired.code], ['{"n":1}\n', '', 0])
  assert.deepEqual((await talk.sessions())[0]?.said, ['user: hello', 'assistant: {"n":1}'])
  assertFailed(await talk.send(['-q', '--schema', JSON.stringify(SCHEMA), 'hello']), 'schema', {
    message: /^Cannot give an answer that meets the schema: /,
    hint: /loosen the schema/,
  })
  assert.equal(talk.server.requests.length, 4)
})

test('a schema that is not JSON, or not an object, is rejected before anything is sent', async () => {
  await using talk = await makeTalk([])
  await writeFile(join(talk.cwd, 'list.json'), '[]')
  assertFailed(await talk.send(['--schema', '{nope', 'hello']), 'usage', {
    message: /^Cannot use --schema: /,
  })
  assertFailed(await talk.send(['--schema', 'nosuch', 'hello']), 'no-input', { message: /for --schema/ })
  assertFailed(await talk.send(['--schema', 'list.json', 'hello']), 'invalid', {
    message: /it is not a JSON object$/,
  })
  assert.equal(talk.server.requests.length, 0)
})

test('--max-turns ends a run of tool calls after that many model calls, and exits 8', async () => {
  await using talk = await makeTalk(() => ({ parts: ['Looking.', CALL] }))
  for (const [turns, said] of [
    [1, '1 model call'],
    [3, '3 model calls'],
  ] as const) {
    const before = talk.server.requests.length
    assertFailed(await talk.send(['--last', '--max-turns', String(turns), 'hello']), 'limit', {
      message: new RegExp(`^The turn reached its limit of ${said}$`),
      hint: /--max-turns, or max_iterations in the agent's file; continue with -c/,
    })
    assert.equal(talk.server.requests.length - before, turns)
  }
})

test('--max-cost ends a run before the next model call when the budget is spent, and exits 8', async () => {
  const facts = configWithFacts('input_usd = 1, output_usd = 10')
  await using talk = await makeTalk(() => ({ parts: [CALL], usage: USAGE }), facts)
  assertFailed(await talk.send(['--max-cost', '0.003', 'hello']), 'limit', {
    message: /^The turn reached its cost limit$/,
    hint: /--max-cost/,
  })
  assert.equal(talk.server.requests.length, 2)
})

test('--max-cost with a model of unknown price exits 78, and nothing is sent or stored', async () => {
  await using talk = await makeTalk(() => ({ parts: ['ok'] }))
  assertFailed(await talk.send(['--max-cost', '1', 'hello']), 'config', {
    message: /^Cannot enforce a cost limit: the price of scripted is not known$/,
    hint: /input_usd and output_usd/,
  })
  assert.deepEqual([talk.server.requests, await talk.sessions()], [[], []])
})

test('--timeout and --idle-timeout exit 124, keep the text, and name the option', async () => {
  await using talk = await makeTalk(() => ({ parts: ['partial'], end: 'hang' }))
  const [total, idle, both] = await Promise.all([
    talk.send(['-s', 'total', '--timeout', '1', 'hello']),
    talk.send(['-s', 'idle', '--idle-timeout', '900ms', 'hello']),
    talk.send(['--timeout', '0', '--idle-timeout', '1s', 'hello']),
  ])
  const stdout = 'partial\n'
  assertFailed(total, 'timeout', {
    message: /^Cannot finish: the run took longer than 1 s$/,
    hint: /--timeout/,
    stdout,
  })
  assertFailed(idle, 'timeout', {
    message: /^Cannot finish: the model sent nothing for 0.9 s$/,
    hint: /--idle/,
    stdout,
  })
  assertFailed(both, 'timeout', { message: /nothing for 1 s$/, stdout })
  for (const { said } of await talk.sessions())
    assert.deepEqual(said, ['user: hello', 'assistant: partial [cancelled]'])
  for (const request of talk.server.requests) assert.equal(await request.done, false)
})

test('--fail-on-tool-error makes a failed tool call exit 5, after the answer', async () => {
  const replies: Reply[] = [{ parts: [CALL] }, { parts: ['It is not there.'] }]
  await using talk = await makeTalk((_, index) => replies[index % 2]!)
  assert.equal((await talk.send(['hello'])).code, 0)
  assertFailed(await talk.send(['--fail-on-tool-error', 'hello']), 'tool', {
    message: /^Tool calls failed: 1$/,
    stdout: 'It is not there.\n',
  })
})

test('--model names the model of this turn', async () => {
  await using talk = await makeTalk(() => ({ parts: ['ok'] }))
  await talk.send(['-m', 'other', 'hello'])
  assert.equal(talk.server.requests[0]?.json['model'], 'other')
})

function readSystemPrompt(talk: Talk): string {
  const messages = talk.server.requests.at(-1)?.json['messages'] as { role: string; content: string }[]
  return messages.find(({ role }) => role === 'system')?.content ?? ''
}
