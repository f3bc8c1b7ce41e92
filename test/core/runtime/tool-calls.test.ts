import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { ToolCall } from '../../../src/core/base/message.ts'
import type { Hook, ToolDispatch } from '../../../src/core/runtime/hook.ts'
import { type FinishedCall, runToolCalls, toolsByName } from '../../../src/core/runtime/tool-calls.ts'
import { READ, remoteSpec } from '../../support/fake-tools.ts'
import { collectAnswers, makeToolContext } from '../../support/tool-context.ts'

const NEVER = new AbortController().signal

test('toolsByName() finds a tool by its bare name: built-in tools first, then the server that was declared first', () => {
  const offered = [remoteSpec('web', 'read'), remoteSpec('web', 'find'), remoteSpec('db', 'find'), READ]
  const tools = toolsByName(offered)
  const named = ['read', 'find', 'mcp__web__read', 'mcp__db__find'].map((name) => tools.get(name)?.name)
  assert.deepEqual(named, ['read', 'mcp__web__find', 'mcp__web__read', 'mcp__db__find'])
})

test('runToolCalls() says why a tool cannot be called that was not offered, if a hook knows', async () => {
  const requests: unknown[] = []
  const hook: Hook = {
    whyNot: (name, turnOver) => {
      requests.push(turnOver)
      return name === 'hidden' ? 'Select it first' : undefined
    },
    dispatch: () => assert.fail('is not reached'),
  }
  const setting = { ...step(hook, ['read']), context: makeToolContext(hook) }
  const calls = [call('a', 'hidden'), call('b', 'unknown')]
  const answers = await collectAnswers(runToolCalls(calls, setting, NEVER))
  const results = answers.toSorted((a, b) => a.index - b.index).map(({ result }) => result)
  assert.deepEqual(results[0], { output: 'Select it first', isError: true })
  assert.match(results[1]!.output, /^Cannot call unknown: no tool has that name/)
  assert.deepEqual(new Set(requests), new Set([setting.context.dispatch.turnOver]))
})

test('runToolCalls() runs all calls in parallel and yields answers as they come', async () => {
  const gates = [0, 1, 2].map(() => Promise.withResolvers<string>())
  const started: string[] = []
  const answers = run(
    ['0', '1', '2'].map((id) => call(id, 'wait')),
    {
      wait: ({ callId }) => {
        started.push(callId)
        return gates[Number(callId)]!.promise
      },
    },
  )
  const order: string[] = []
  for (const next of [2, 0, 1]) {
    const answer = answers.next()
    gates[next]!.resolve(`answer ${next}`)
    const { value } = await answer
    order.push(`${value?.index} ${value?.call.id} ${value?.result.output}`)
  }
  assert.deepEqual(started, ['0', '1', '2'])
  assert.deepEqual(order, ['2 2 answer 2', '0 0 answer 0', '1 1 answer 1'])
  assert.equal((await answers.next()).done, true)
})

test('runToolCalls() gives a tool its arguments and everything the step shares', async () => {
  const seen: ToolDispatch[] = []
  const tools = {
    look: async (at: ToolDispatch) => {
      seen.push(at)
      return 'ok'
    },
  }
  await Array.fromAsync(run([call('a', 'look', '{"path":"x","n":[1]}'), call('b', 'look', ' ')], tools))
  assert.deepEqual(
    seen.map(({ callId, args, sender, session, cwd }) => [callId, args, sender, session, cwd]),
    [
      ['a', { path: 'x', n: [1] }, 'ann', 's1', '/tmp'],
      ['b', {}, 'ann', 's1', '/tmp'],
    ],
  )
})

test('runToolCalls() tells the model about an unknown tool', async () => {
  assert.deepEqual(await outputs([call('a', 'rm')], { look: async () => 'ok' }), [
    ['Cannot call rm: no tool has that name; available: look', true],
  ])
  assert.deepEqual(await outputs([call('a', 'rm')], {}), [
    ['Cannot call rm: no tool has that name; no tools are available', true],
  ])
})

test('runToolCalls() suggests the nearest tool, or ten of many', async () => {
  const names = Array.from({ length: 68 }, (_, i) => `mcp__s__tool_number_${String.fromCharCode(65 + i)}`)
  const tools = Object.fromEntries(names.map((name) => [name, async () => 'ok']))
  const answerTo = async (name: string) => (await outputs([call('a', name)], tools))[0]![0]
  const [meant, ten] = [await answerTo('mcp__s__tol_number_C'), await answerTo('x')]
  assert.match(
    meant,
    /^Cannot call mcp__s__tol_number_C: no tool has that name; did you mean "mcp__s__tool_number_C"\?$/,
  )
  assert.match(ten, /; available: (mcp\S+, ){9}mcp\S+ and 58 more$/)
})

test('runToolCalls() does not run an existing tool that was not offered', async () => {
  let calls = 0
  const hook: Hook = { dispatch: async () => ({ output: String(++calls), isError: false }) }
  const [answer] = await collectAnswers(runToolCalls([call('a', 'secret')], step(hook, []), NEVER))
  assert.equal(answer?.result.isError, true)
  assert.equal(calls, 0)
})

for (const args of ['{"path":', '[]', '"x"', '7', 'null', 'nonsense']) {
  test(`runToolCalls() tells the model that ${args} are not valid arguments`, async () => {
    assert.deepEqual(await outputs([call('a', 'look', args)], { look: async () => 'ok' }), [
      ['Cannot call look: its arguments are not a JSON object', true],
    ])
  })
}

test('runToolCalls() turns the error of a tool into an answer, with its hint', async () => {
  const failures = {
    known: async () => {
      throw new CrabError('denied', 'Cannot write x: refused', { hint: 'allow it with --allow edit' })
    },
    bug: async () => {
      throw new TypeError('x is undefined')
    },
    sync: () => {
      throw new Error('at once')
    },
  }
  assert.deepEqual(
    await outputs(
      ['known', 'bug', 'sync'].map((name) => call(name, name)),
      failures,
    ),
    [
      ['Cannot write x: refused (allow it with --allow edit)', true],
      ['Unexpected failure: x is undefined', true],
      ['Unexpected failure: at once', true],
    ],
  )
})

test('runToolCalls() passes the signal to each tool and waits for tools that clean up', async () => {
  const stop = new AbortController()
  const ended: string[] = []
  const begun = [0, 1].map(() => Promise.withResolvers<void>())
  const waiting = begun.values()
  const sleep: Tools[string] = (...at) => {
    waiting.next().value!.resolve()
    return sleeper(ended)(...at)
  }
  const answers = run([call('a', 'sleep'), call('b', 'sleep')], { sleep }, stop.signal)
  const first = answers.next()
  await Promise.all(begun.map(({ promise }) => promise))
  stop.abort()
  await first
  await answers.next()
  assert.deepEqual(ended.toSorted(), ['a', 'b'])
})

test('runToolCalls() stops the running tools when its reader leaves, and waits for them', async () => {
  const ended: string[] = []
  const tools = { now: async () => 'done', sleep: sleeper(ended) }
  for await (const { call: finished } of run(
    [call('a', 'sleep'), call('b', 'now'), call('c', 'sleep')],
    tools,
  )) {
    assert.equal(finished.id, 'b')
    break
  }
  assert.deepEqual(ended.toSorted(), ['a', 'c'])
})

test('runToolCalls() starts no tool of a turn that is over', async () => {
  const started: string[] = []
  const tools = {
    look: async ({ callId }: ToolDispatch) => {
      started.push(callId)
      return 'ok'
    },
  }
  const [answer] = await Array.fromAsync(run([call('a', 'look')], tools, AbortSignal.abort()))
  assert.deepEqual([answer?.result.isError, started], [true, []])
})

test('runToolCalls() never reports a negative duration', async () => {
  const clock = [2_000, 1_000]
  const hook: Hook = { dispatch: async () => ({ output: '', isError: false }) }
  const { context, ...rest } = step(hook, ['x'])
  const backwards = { ...rest, context: { ...context, now: () => clock.shift() ?? 0 } }
  const [answer] = await collectAnswers(runToolCalls([call('a', 'x')], backwards, NEVER))
  assert.equal(answer?.durationMs, 0)
})

type Tools = Record<string, (call: ToolDispatch, signal: AbortSignal) => Promise<string>>

/** Returns a tool that ends some time after an abort. */
function sleeper(ended: string[]): Tools[string] {
  return ({ callId }, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () =>
        setImmediate(() => {
          ended.push(callId)
          resolve('stopped')
        }),
      )
    })
}

function call(id: string, name: string, args = '{}'): ToolCall {
  return { id, name, arguments: args }
}

function step(hook: Hook, names: readonly string[]) {
  const offered = names.map((name) => ({ name, description: '', parameters: {}, readOnly: true }))
  return { offered, context: makeToolContext(hook), offerAgain() {} }
}

async function* run(calls: readonly ToolCall[], tools: Tools, signal = NEVER): AsyncGenerator<FinishedCall> {
  const hook: Hook = {
    dispatch: (name, at, stop) => tools[name]?.(at, stop).then((output) => ({ output, isError: false })),
  }
  for await (const event of runToolCalls(calls, step(hook, Object.keys(tools)), signal)) {
    if (!('type' in event)) yield event
  }
}

async function outputs(calls: readonly ToolCall[], tools: Tools): Promise<[string, boolean][]> {
  const answers = await Array.fromAsync(run(calls, tools))
  return answers
    .toSorted((a, b) => a.index - b.index)
    .map(({ result }): [string, boolean] => [result.output, result.isError])
}
