import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openOutFile } from '../../../src/cli/out-file.ts'
import { RunRecord } from '../../../src/cli/turn/record.ts'
import type { RunOutcome, Sink } from '../../../src/cli/turn/sink.ts'
import { streamJsonSink } from '../../../src/cli/turn/stream-json-sink.ts'
import { TextSink, type TextSinkOptions } from '../../../src/cli/turn/text-sink.ts'
import { jsonSink } from '../../../src/commands/send/program-sink.ts'
import { CrabError } from '../../../src/core/base/errors.ts'
import { StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import type { WireTurnEvent } from '../../../src/core/protocol/turn-fold.ts'
import { makeTestHost, type TestHost, type TestHostOptions } from '../../support/test-host.ts'

const DONE: RunOutcome = { exit: 0, error: undefined, structured: undefined }
const FAILED: RunOutcome = { exit: 69, error: new CrabError('unavailable', 'cut'), structured: undefined }
const LACKING: RunOutcome = { exit: 4, error: new CrabError('denied', 'nobody'), structured: undefined }
const END = event('end', { detail: { stopReason: 'stop' } })
const QUESTION = { question: 'Allow?', options: [{ label: 'Deny' }] }
const PERMISSION = {
  callId: 'a',
  tool: 'bash',
  arguments: '{}',
  action: 'bash: ls',
  cwd: '/work',
  reason: 'why',
  rules: ['bash(ls)'],
}
const TWO_STEPS = [...text('Look', 'ing'), ...text('Done\n')]
const TERMINAL: TestHostOptions = { terminals: ['stdout'] }

/** Options, events and the bytes of standard output. */
const PRINTED: [string, Partial<TextSinkOptions>, WireTurnEvent[], string, RunOutcome?, TestHostOptions?][] =
  [
    ['nothing for nothing', {}, [], ''],
    ['a final newline where one is missing', {}, text('hi'), 'hi\n'],
    ['no second final newline', {}, text('hi\n'), 'hi\n'],
    ['newlines that the answer has', {}, text('hi\n\n'), 'hi\n\n'],
    ['a blank line between steps', {}, TWO_STEPS, 'Looking\n\nDone\n'],
    [
      'a blank line that is half there already',
      {},
      [...text('a\n'), ...text('b\n\n'), ...text('c')],
      'a\n\nb\n\nc\n',
    ],
    ['a newline behind an answer that was cut off', {}, text('Half').slice(0, 2), 'Half\n', FAILED],
    ['control sequences in a pipe', {}, text('\u001b[31mred'), '\u001b[31mred\n'],
    ['no control sequences on a terminal', {}, text('\u001b[3', '1mred\u0007'), 'red\n', DONE, TERMINAL],
    [
      'control sequences on a terminal with --raw',
      { raw: true },
      text('\u001b[31mred'),
      '\u001b[31mred\n',
      DONE,
      TERMINAL,
    ],
    ['everything at the end with --buffer', { buffer: true }, TWO_STEPS, 'Looking\n\nDone\n'],
    ['nothing of a failed run with --buffer', { buffer: true }, text('Half'), '', FAILED],
    [
      'the answer that came without a permission, with --buffer',
      { buffer: true },
      [...text('hi'), END],
      'hi\n',
      LACKING,
    ],
    ['nothing of a turn that failed for a permission', { buffer: true }, text('Half'), '', LACKING],
    ['nothing after a signal', { buffer: true }, [...text('hi'), END], '', { ...LACKING, exit: 130 }],
    ['the last text with --last', { lastOnly: true }, TWO_STEPS, 'Done\n'],
    [
      'JSON that meets a schema, without fences',
      { structured: true },
      text('```json\n{"a": 1}\n```'),
      '{"a":1}\n',
      { ...DONE, structured: { a: 1 } },
    ],
    ['null that meets a schema', { structured: true }, text('null'), 'null\n', { ...DONE, structured: null }],
  ]

for (const [what, options, events, expected, outcome = DONE, host = {}] of PRINTED) {
  test(`TextSink prints ${what}`, async () => {
    await using at = await makeTestHost(host)
    await feed(textSinkOf(at, options), events, outcome)
    assert.equal(at.stdout(), expected)
  })
}

test('TextSink prints each delta when it arrives', async () => {
  await using at = await makeTestHost()
  const sink = textSinkOf(at, {})
  const record = newRecord()
  const seen: string[] = []
  for (const event of text('Hel', 'lo')) {
    record.apply(event, 0)
    await sink.event(event, record)
    await at.host.stdout.flush()
    seen.push(at.stdout())
  }
  assert.deepEqual(seen, ['', 'Hel', 'Hello', 'Hello\n'])
})

test('TextSink writes a file whole, on success only, with all text of the model', async () => {
  await using at = await makeTestHost(TERMINAL)
  const outFile = await openOutFile('answer.md', at.host)
  await feed(textSinkOf(at, { outFile }), text('lost'), FAILED)
  await feed(textSinkOf(at, { outFile }), [...text('lost'), END], LACKING)
  await assert.rejects(readFile(join(at.folder, 'answer.md')), { code: 'ENOENT' })
  await feed(textSinkOf(at, { outFile }), [...TWO_STEPS, ...text('\u001b[31mred')], DONE)
  assert.equal(await readFile(join(at.folder, 'answer.md'), 'utf8'), 'Looking\n\nDone\n\n\u001b[31mred\n')
  assert.equal(at.stdout(), '')
})

test('jsonSink() prints one object, also of a run that failed', async () => {
  for (const [outcome, ok] of [
    [DONE, true],
    [FAILED, false],
  ] as const) {
    await using at = await makeTestHost()
    await feed(jsonSink({ stdout: at.host.stdout, outFile: undefined, now: () => 0 }), text('hi'), outcome)
    const lines = at.stdout().split('\n')
    assert.equal(lines.length, 2)
    const result = JSON.parse(lines[0]!)
    assert.deepEqual(
      [result.type, result.ok, result.text, result.error?.code],
      ['result', ok, 'hi', outcome.error?.kind],
    )
  }
})

test('jsonSink() writes a success to its file, and a failure to standard output', async () => {
  await using at = await makeTestHost()
  const outFile = await openOutFile('run.json', at.host)
  const sink = () => jsonSink({ stdout: at.host.stdout, outFile, now: () => 0 })
  await feed(sink(), text('hi'), FAILED)
  assert.equal(JSON.parse(at.stdout()).ok, false)
  await feed(sink(), text('hi'), DONE)
  assert.equal(JSON.parse(await readFile(join(at.folder, 'run.json'), 'utf8')).ok, true)
  assert.equal(at.stdout().split('\n').length, 2)
})

test('streamJsonSink() prints a line per event, and one last line', async () => {
  await using at = await makeTestHost()
  const calls = ['a', 'b'].map((callId) => ({ callId, name: 'read', arguments: '{}' }))
  const events = [
    event('start', { agent: 'crab', runId: 'r', sessionId: 's', model: 'm' }),
    event('notice', { message: 'n' }),
    event('retry', { attempt: 1, delayMs: 50, kind: 'throttled', message: 'busy' }),
    event('thinkingStart', {}),
    event('thinking', { content: 'hm' }),
    event('thinkingEnd', {}),
    ...text('Look', 'ing'),
    event('toolStart', { calls }),
    event('toolProgress', { callId: 'a', message: 'half' }),
    event('askUser', { askId: 'q', kind: 2, questions: [QUESTION], permission: PERMISSION }),
    event('askClosed', { askId: 'q', by: 'ann', content: '{"Allow?":"Deny"}' }),
    event('askClosed', { askId: 'p', by: 'timeout' }),
    event('mcpState', { kind: 3, name: 'fs', agent: 'crab', error: 'no' }),
    event('toolResult', {
      callId: 'a',
      output: 'no',
      denial: { action: 'x', reason: 'y', rules: ['z'], by: 3 },
    }),
    event('toolResult', { callId: 'b', output: 'x', durationMs: 3, isError: true, diff: '@@' }),
    event('toolsComplete', {}),
    event('contextUsage', { usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 } }),
    event('end', { detail: { stopReason: 'stop' } }),
  ]
  await feed(streamJsonSink({ stdout: at.host.stdout, now: () => 12.34 }), events, DONE)
  const lines = at
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ seq }) => seq),
    lines.map((_, index) => index + 1),
  )
  assert.ok(lines.every(({ v, run, t }) => v === 1 && run === 'r' && t === 12.3))
  const records = lines.map(({ v: _, seq: __, t: ___, run: ____, ...fields }) => fields)
  assert.deepEqual(records.slice(0, -1), [
    { type: 'run.started', agent: 'crab', sender: '', session: 's', model: 'm' },
    { type: 'notice', message: 'n' },
    { type: 'retry', attempt: 1, delay_ms: 50, code: 'throttled', message: 'busy' },
    { type: 'thinking.delta', text: 'hm' },
    { type: 'text.delta', text: 'Look' },
    { type: 'text.delta', text: 'ing' },
    { type: 'text.done', text: 'Looking' },
    { type: 'tool.started', id: 'a', name: 'read', arguments: '{}' },
    { type: 'tool.started', id: 'b', name: 'read', arguments: '{}' },
    { type: 'tool.progress', id: 'a', message: 'half' },
    {
      type: 'ask.opened',
      ask: 'q',
      kind: 'permission',
      questions: [
        { question: 'Allow?', header: '', options: [{ label: 'Deny', description: '' }], multi: false },
      ],
      permission: {
        id: 'a',
        tool: 'bash',
        server: null,
        arguments: '{}',
        action: 'bash: ls',
        commands: [],
        cwd: '/work',
        diff: '',
        editable: false,
        reason: 'why',
        rules: ['bash(ls)'],
        warnings: [],
      },
    },
    { type: 'ask.closed', ask: 'q', by: 'ann', content: { 'Allow?': 'Deny' } },
    { type: 'ask.closed', ask: 'p', by: 'timeout', content: null },
    { type: 'mcp.state', server: 'fs', state: 'failed', tools: [], error: 'no' },
    {
      type: 'tool.result',
      id: 'a',
      output: 'no',
      ms: 0,
      is_error: false,
      diff: null,
      denial: { action: 'x', reason: 'y', rules: ['z'], by: 'nobody' },
    },
    { type: 'tool.result', id: 'b', output: 'x', ms: 3, is_error: true, diff: '@@', denial: null },
    { type: 'usage', input: 3, output: 2, cache_read: 0, cache_write: 0, reasoning: 0 },
  ])
  const { type, ok, text: said } = records.at(-1)!
  assert.deepEqual([type, ok, said], ['run.finished', true, 'Looking'])
})

function textSinkOf(at: TestHost, more: Partial<TextSinkOptions>): Sink {
  const plain = { outFile: undefined, buffer: false, lastOnly: false, structured: false, raw: false }
  return new TextSink({ stdout: at.host.stdout, ...plain, ...more })
}

async function feed(sink: Sink, events: readonly WireTurnEvent[], outcome: RunOutcome): Promise<void> {
  const record = newRecord()
  for (const one of events) {
    record.apply(one, 0)
    await sink.event(one, record)
  }
  await sink.finish(record, outcome)
}

function newRecord(): RunRecord {
  return new RunRecord({ startedAt: 0, agent: '', sender: '' })
}

function event($case: WireTurnEvent['$case'], value: object): WireTurnEvent {
  return StreamEvent.fromPartial({ event: { $case, value } as WireTurnEvent }).event!
}

function text(...deltas: string[]): WireTurnEvent[] {
  const chunks = deltas.map((content) => event('chunk', { content }))
  return [event('textStart', {}), ...chunks, event('textEnd', {})]
}
