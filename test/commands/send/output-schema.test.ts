import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Schema, Validator } from '@cfworker/json-schema'
import { outputSchema } from '../../../src/commands/send/output-schema.ts'
import type { Reply } from '../../support/model-server.ts'
import { startSendTest } from '../../support/run-send.ts'

const { properties } = outputSchema() as { properties: Record<'json' | 'stream-json', Schema> }
const USAGE = { input: 9, output: 3, cacheRead: 2, reasoning: 1 }
const READ = { call: 'a', name: 'read', args: '{"path":"none"}' }

const WRITE = { call: 'a', name: 'write', args: '{"path":"new","content":"x"}' }

/** Runs with different output: the replies of the model, the arguments, the exit code. */
const RUNS: Record<string, { script: Reply[]; argv?: string[]; code: number }> = {
  'an answer': { script: [{ parts: ['Hi', ' there'], usage: USAGE }], code: 0 },
  'thinking and tools': {
    script: [{ parts: [{ thinking: 'hm' }, 'So', READ, READ] }, { parts: ['Done'] }],
    code: 0,
  },
  'a tool that failed': {
    script: [{ parts: [READ] }, { parts: ['Done'] }],
    argv: ['--fail-on-tool-error'],
    code: 5,
  },
  'a permission that nobody gave': { script: [{ parts: [WRITE] }, { parts: ['Done'] }], code: 4 },
  'a permission that ended the turn': { script: [{ parts: [WRITE] }], argv: ['--on-ask', 'fail'], code: 4 },
  'a rule that refuses': {
    script: [{ parts: [WRITE] }, { parts: ['Done'] }],
    argv: ['--deny', 'edit'],
    code: 0,
  },
  'JSON of a schema': {
    script: [{ parts: ['no'] }, { parts: ['{"n":1}'] }],
    argv: ['--schema', '{"required":["n"]}'],
    code: 0,
  },
  'a schema that was not met': {
    script: [{ parts: ['no'] }, { parts: ['no'] }],
    argv: ['--schema', '{"required":["n"]}'],
    code: 6,
  },
  retries: { script: [busy(0), busy(0), { parts: ['Hi'] }], code: 0 },
  'a limit of the server': { script: [busy(30_000)], code: 75 },
  'a wrong key': { script: [{ status: 401, body: { error: { message: 'no' } } }], code: 77 },
  'a cut stream': { script: [{ parts: ['Half'], end: 'cut' }], code: 69 },
  'an answer cut at its limit': { script: [{ parts: ['Half'], finish: 'length' }], code: 7 },
  'a refusal': { script: [{ parts: ['No'], finish: 'refused' }], code: 3 },
  'an empty answer': { script: [{ parts: [] }], code: 9 },
  'too many steps': { script: [{ parts: [READ] }], argv: ['--max-turns', '1'], code: 8 },
  'an agent that is not there': { script: [], argv: ['-a', 'nobody'], code: 1 },
  'a conversation that is not there': { script: [], argv: ['-c'], code: 1 },
  'an option with a wrong value': { script: [], argv: ['--timeout', 'soon'], code: 2 },
}

for (const [what, { script, argv = [], code }] of Object.entries(RUNS)) {
  test(`--print-schema describes what --output json and stream-json print of ${what}`, async () => {
    for (const form of ['json', 'stream-json'] as const) {
      await using at = await startSendTest(script)
      const run = await at.run('send', '--output', form, ...argv, 'hi')
      assert.equal(run.code, code, run.stderr)
      const lines = run.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      const last = lines.at(-1)
      assert.deepEqual(
        [last.type, last.ok, last.exit],
        [form === 'json' ? 'result' : 'run.finished', code === 0, code],
      )
      for (const line of lines) assertFits(line, properties[form])
    }
  })
}

test('--print-schema prints that schema', async () => {
  await using at = await startSendTest([])
  const { stdout, code } = await at.run('send', '--print-schema')
  assert.deepEqual([JSON.parse(stdout), code], [JSON.parse(JSON.stringify(outputSchema())), 0])
})

test('the schema rejects what the output never contains', () => {
  const line = { v: 1, type: 'text.delta', seq: 1, t: 0, run: 'r', text: 'x' }
  assertFits(line, properties['stream-json'])
  for (const wrong of [
    { ...line, v: 2 },
    { ...line, more: 1 },
    { ...line, type: 'text' },
    { ...line, text: 1 },
  ]) {
    assert.equal(new Validator(properties['stream-json'], '2020-12').validate(wrong).valid, false)
  }
})

function assertFits(value: unknown, schema: Schema): void {
  const { valid, errors } = new Validator(schema, '2020-12', false).validate(value)
  assert.ok(valid, `${JSON.stringify(value)}: ${JSON.stringify(errors.at(-1))}`)
}

function busy(afterMs: number): Reply {
  return { status: 429, headers: { 'retry-after-ms': String(afterMs) }, body: { error: { message: 'busy' } } }
}
