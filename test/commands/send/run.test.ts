import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StopController } from '../../../src/cli/stop-controller.ts'
import { TextSink } from '../../../src/cli/turn/text-sink.ts'
import { newRunRecord, runToOutcome, sendAndFollow } from '../../../src/commands/send/run.ts'
import { StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, route } from '../../../src/core/protocol/dispatch.ts'
import { parseSendSettings } from '../../support/send-settings.ts'
import { makeTestHost } from '../../support/test-host.ts'

const START = event('start', { agent: 'crab' })
const TOOLS = event('toolStart', {
  calls: [
    { callId: 'a', name: 'look' },
    { callId: 'b', name: 'look' },
  ],
})
const ANSWER = [event('textStart', {}), event('chunk', { content: 'Hi' }), event('textEnd', {})]
const END = event('end', { detail: { stopReason: 'stop' } })
const NOTHING = new AsyncDisposableStack()
/** Longer than any limit of these tests. */
const AGES_MS = 60_000

/** Runs with and without a silent model: events, and pauses in milliseconds. */
const RUNS: [string, (StreamEvent | number)[], boolean][] = [
  ['its conversation is busy', [AGES_MS, START, ...ANSWER, END], true],
  ['tools run', [START, TOOLS, AGES_MS, event('toolsComplete', {}), ...ANSWER, END], true],
  [
    'one tool runs longer than another',
    [START, TOOLS, event('toolResult', { callId: 'a' }), AGES_MS, event('toolsComplete', {}), ...ANSWER, END],
    true,
  ],
  [
    'a tool tells of its progress',
    [
      START,
      TOOLS,
      event('toolProgress', { callId: 'a' }),
      AGES_MS,
      event('toolsComplete', {}),
      ...ANSWER,
      END,
    ],
    true,
  ],
  [
    'a notice comes while tools run, and a person is asked',
    [
      START,
      TOOLS,
      event('notice', { message: 'n' }),
      event('askUser', { askId: 'q', questions: [{ question: 'Which?' }] }),
      AGES_MS,
      event('askClosed', { askId: 'q', by: 'ann' }),
      AGES_MS,
      event('toolsComplete', {}),
      ...ANSWER,
      END,
    ],
    true,
  ],
  ['the model speaks, slowly', [START, 900, ANSWER[0]!, 900, ANSWER[1]!, 900, ANSWER[2]!, END], true],
  ['the model never begins', [START, AGES_MS, ...ANSWER, END], false],
  ['the model stops in the middle', [START, ANSWER[0]!, AGES_MS, ...ANSWER.slice(1), END], false],
  [
    'the model is silent after tools',
    [START, TOOLS, event('toolsComplete', {}), AGES_MS, ...ANSWER, END],
    false,
  ],
]

for (const [why, steps, isPatient] of RUNS) {
  test(`runToOutcome() ${isPatient ? 'waits' : 'gives up'} when ${why}`, async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    await using at = await makeTestHost()
    const settings = await parseSendSettings(['hi', '--idle-timeout', '1s', '--timeout', '0'], at.host)
    using stop = new StopController({ host: at.host, ...settings })
    const record = newRunRecord(settings)
    const sink = new TextSink({ ...settings, stdout: at.host.stdout, structured: false })
    const attached = {
      dispatch: playing(steps, (ms) => context.mock.timers.tick(ms)),
      lease: async () => NOTHING,
    }
    const run = { settings, host: at.host, stop, sink, record, attached }
    const input = { content: 'hi', attachments: [] }
    const { exit, error } = await runToOutcome(record, settings, () => sendAndFollow({ ...run, input }))
    assert.deepEqual([exit, error?.kind], isPatient ? [0, undefined] : [124, 'timeout'])
  })
}

test('runToOutcome() returns the failure, and JSON only when it matches a requested schema', async () => {
  await using at = await makeTestHost()
  const settings = await parseSendSettings(['hi', '--schema', '{}'], at.host)
  const record = newRunRecord(settings)
  for (const { event: one } of [START, event('chunk', { content: '{"a":1}' }), END]) record.apply(one!, 0)
  const met = await runToOutcome(record, settings, async () => {})
  assert.deepEqual(met, { exit: 0, error: undefined, structured: { a: 1 } })
  const plain = await runToOutcome(record, { ...settings, schema: '' }, async () => {})
  assert.equal(plain.structured, undefined)
  const failed = await runToOutcome(record, settings, () => Promise.reject(new TypeError('bug')))
  assert.deepEqual([failed.exit, failed.error?.kind, failed.structured], [70, 'internal', undefined])
})

/** Creates a daemon that sends these events with pauses between them. */
function playing(steps: readonly (StreamEvent | number)[], pass: (ms: number) => void): Dispatch {
  return route({
    async *stream(_, signal) {
      for (const step of steps) {
        await new Promise((resolve) => setImmediate(resolve))
        if (typeof step === 'number') pass(step)
        signal.throwIfAborted()
        if (typeof step !== 'number') yield step
      }
    },
  })
}

function event($case: NonNullable<StreamEvent['event']>['$case'], value: object): StreamEvent {
  return StreamEvent.fromPartial({ event: { $case, value } as StreamEvent['event'] & object })
}
