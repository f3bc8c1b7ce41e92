import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Validator } from '@cfworker/json-schema'
import type { JsonObject } from '../../src/core/base/message.ts'
import type { Reply } from '../support/model-server.ts'
import { configWithFacts, makeTalk, type Talk } from '../support/talk.ts'

const TODO = { call: 'c2', name: 'todo', args: JSON.stringify({ items: ['[>] Look', '[ ] Answer'] }) }
const CALL = { call: 'c1', name: 'read', args: '{"path":"a.txt"}' }
const USAGE = { input: 1000, output: 100, cacheRead: 600, reasoning: 20 }

test('--output json prints one object that describes the whole run', async () => {
  const facts = configWithFacts('input_usd = 1, output_usd = 10')
  await using talk = await makeTalk(
    [
      { parts: ['Let me look.', CALL, TODO], usage: USAGE },
      { parts: ['Done.'], usage: USAGE },
    ],
    facts,
  )
  const { stdout, stderr, code } = await talk.send(['--output', 'json', '-s', 'me', 'hello'])
  assert.deepEqual([stderr, code], ['', 0])
  const [session] = await talk.sessions()
  const { time, run, tools, ...result } = await checked(talk, 'json', stdout)
  assert.deepEqual(result, {
    v: 1,
    type: 'result',
    ok: true,
    exit: 0,
    status: 'answered',
    agent: 'crab',
    sender: 'me',
    session: session?.path.slice(session.path.lastIndexOf('/') + 1, -'.jsonl'.length),
    text: 'Let me look.\n\nDone.',
    structured: null,
    stop_reason: 'stop',
    model: 'scripted',
    turns: 2,
    usage: { input: 2000, output: 200, cache_read: 1200, cache_write: 0, reasoning: 40 },
    cost_usd: 0.004,
    todo: [
      { text: 'Look', status: 'in_progress' },
      { text: 'Answer', status: 'pending' },
    ],
    denied: [],
    notices: [],
    error: null,
  })
  assert.match(String(run), /^[0-9A-Z]{26}$/)
  assert.deepEqual(
    { ...(tools as JsonObject[]).find(({ name }) => name === 'read'), ms: 0 },
    { server: null, name: 'read', calls: 1, errors: 1, ms: 0 },
  )
  const { total_ms, to_request_ms, ttft_ms } = time as Record<string, number>
  assert.ok(to_request_ms! <= ttft_ms! && ttft_ms! <= total_ms!)
})

test('a pipe shows which server’s tools are missing, unless notices are off', async () => {
  await using talk = await makeTalk(Array(3).fill({ parts: ['Done.'] }))
  await mkdir(join(talk.home, 'agents'), { recursive: true })
  const entry = '[[mcps]]\nname = "down"\ncommand = "/nonexistent/server"\n'
  await writeFile(join(talk.home, 'agents/crab.toml'), `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n\n${entry}`)
  const line = /^crabtalk: Cannot use the MCP server "down": .*; its tools are left out .*\n$/
  const plain = await talk.send(['hello'])
  assert.deepEqual([plain.stdout, plain.code], ['Done.\n', 0])
  assert.match(plain.stderr, line)
  assert.equal((await talk.send(['-q', 'hello'])).stderr, '')
  const { stdout, stderr } = await talk.send(['-o', 'json', 'hello'])
  assert.match(stderr, line)
  const { notices } = await checked(talk, 'json', stdout)
  const [{ message, server }] = notices as [{ message: string; server: string }]
  assert.deepEqual([`crabtalk: ${message}\n`, server], [stderr, 'down'])
})

test('--output json prints its object for every kind of failure', async () => {
  const failures: [string, number, Reply, string[]?][] = [
    ['refused', 3, { parts: [], finish: 'refused' }],
    ['truncated', 7, { parts: ['half'], finish: 'length' }],
    ['empty', 9, { parts: [] }],
    ['credentials', 77, { status: 401, body: { error: { message: 'no' } } }],
    ['invalid', 65, { status: 400, body: { error: { message: 'bad' } } }],
    ['unavailable', 69, { parts: ['half'], end: 'cut' }],
    ['timeout', 124, { parts: ['half'], end: 'hang' }, ['--timeout', '1s']],
    ['config', 78, {}, ['--max-cost', '1']],
    ['usage', 2, {}, ['--no-stdin', '']],
    ['no-input', 66, {}, ['-f', 'nosuch']],
    ['usage', 2, {}, ['--timeout', 'soon']],
    ['storage', 1, {}, ['-O', 'nosuch/out']],
    ['missing', 1, {}, ['-a', 'nosuch']],
  ]
  for (const [kind, exit, reply, args = []] of failures) {
    await using talk = await makeTalk([reply])
    const { stdout, stderr, code } = await talk.send([
      '--output',
      'json',
      ...args,
      ...(kind === 'usage' ? [] : ['hello']),
    ])
    assert.equal(code, exit, kind)
    assert.ok(stderr.startsWith(`crabtalk: error[${kind}]: `), stderr)
    const { ok, status, error, ...result } = await checked(talk, 'json', stdout)
    assert.deepEqual([ok, status, result['exit'], (error as JsonObject)['code']], [false, kind, exit, kind])
    assert.equal(result['text'], [...(reply.parts ?? [])][0] ?? '')
  }
})

test('--output json leaves standard output empty with --out-file, which gets the object', async () => {
  await using talk = await makeTalk(() => ({ parts: ['ok'] }))
  const { stdout, stderr } = await talk.send(['--output', 'json', '-O', 'out.json', 'hello'])
  assert.deepEqual([stdout, stderr], ['', ''])
  assert.equal(
    (await checked(talk, 'json', await readFile(join(talk.cwd, 'out.json'), 'utf8')))['text'],
    'ok',
  )
})

test('--output stream-json prints one object per event as it happens, and run.finished last and once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = { parts: [{ thinking: 'Hm.' }, 'Let me look.', CALL], usage: USAGE }
  await using talk = await makeTalk([
    first,
    { status: 503, body: 'busy' },
    { parts: ['Do', promise, 'ne.'], usage: USAGE },
  ])
  await writeFile(join(talk.cwd, 'a.txt'), 'content\n')
  const running = talk.startSend(['--output', 'stream-json', 'hello'])
  await running.prints(/"text":"Do"/)
  resolve()
  const { stdout, stderr, code } = await running.finished
  assert.deepEqual([stderr, code], ['', 0])
  const lines = await checkedLines(talk, stdout)
  assert.deepEqual(
    lines.map(({ type, text, name, output, code: kind }) =>
      [type, text ?? name ?? output ?? kind].filter(Boolean).join(' '),
    ),
    [
      'run.started',
      'thinking.delta Hm.',
      'text.delta Let me look.',
      'text.done Let me look.',
      'tool.started read',
      'tool.result content',
      'usage 100',
      'retry unavailable',
      'text.delta Do',
      'text.delta ne.',
      'text.done Done.',
      'usage 100',
      'run.finished Let me look.\n\nDone.',
    ],
  )
})

test('--output stream-json ends with run.finished after a failure, even before the turn began', async () => {
  await using talk = await makeTalk([{ parts: ['half'], end: 'cut' }])
  const cut = await talk.send(['--output', 'stream-json', 'hello'])
  const lines = await checkedLines(talk, cut.stdout)
  assert.deepEqual(
    lines.map(({ type }) => type),
    ['run.started', 'text.delta', 'text.done', 'run.finished'],
  )
  assert.deepEqual([lines.at(-1)?.['ok'], lines.at(-1)?.['exit'], cut.code], [false, 69, 69])
  const early = await checkedLines(
    talk,
    (await talk.send(['--output', 'stream-json', '-f', 'nosuch'])).stdout,
  )
  assert.deepEqual(
    early.map(({ type, exit }) => [type, exit]),
    [['run.finished', 66]],
  )
})

/** Parses a line as JSON and validates it against --print-schema. */
async function checked(talk: Talk, form: 'json' | 'stream-json', line: string): Promise<JsonObject> {
  return (await checker(talk, form))(line)
}

async function checker(talk: Talk, form: 'json' | 'stream-json'): Promise<(line: string) => JsonObject> {
  const { properties, $defs } = JSON.parse((await talk.send(['--print-schema'])).stdout)
  const validator = new Validator({ $defs, ...properties[form] }, '2020-12')
  return (line) => {
    const value: JsonObject = JSON.parse(line)
    const { valid, errors } = validator.validate(value)
    assert.ok(valid, `${line}: ${JSON.stringify(errors)}`)
    assert.ok(line.indexOf('\n') === line.length - 1, 'it is one line')
    return value
  }
}

/** Parses all lines of a stream: each validated, numbered from 1 and in order of time. */
async function checkedLines(talk: Talk, stdout: string): Promise<JsonObject[]> {
  const lines: JsonObject[] = []
  for (const line of stdout.split('\n').slice(0, -1))
    lines.push(await checked(talk, 'stream-json', `${line}\n`))
  assert.deepEqual(
    lines.map(({ seq }) => seq),
    lines.map((_, index) => index + 1),
  )
  assert.deepEqual(
    lines.map(({ t }) => t),
    lines.map(({ t }) => Number(t)).toSorted((a, b) => a - b),
  )
  return lines
}
