import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { Log } from '../../../src/core/base/log.ts'
import type { ComponentTool } from '../../../src/mcp/component/types.ts'
import { HTTP_CLIENTS } from '../../support/component/http-clients.ts'
import { madeHome, startServed } from '../../support/component/served-component.ts'

const ROLL: ComponentTool = {
  name: 'roll',
  description: 'Rolls a die.',
  inputSchema: {
    type: 'object',
    properties: { sides: { type: 'integer', minimum: 2 } },
    required: ['sides'],
    additionalProperties: false,
  },
  run: ({ sides }) => `a ${sides}`,
}
const FAIL: ComponentTool = {
  name: 'fail',
  description: 'Fails.',
  run() {
    throw new CrabError('missing', 'Cannot roll: there is no die', { hint: 'buy one' })
  },
}
const RICH: ComponentTool = {
  name: 'rich',
  description: 'Answers with more.',
  async run(_, { wantsProgress, progress }) {
    progress('half', 1, 2)
    progress('whole', 2, 2)
    return { content: [{ type: 'text', text: String(wantsProgress) }], structuredContent: { wantsProgress } }
  },
}

for (const [client, connect] of Object.entries(HTTP_CLIENTS)) {
  test(`a component serves its tools to ${client}`, async () => {
    await using home = await madeHome()
    await using served = await startServed(home, [ROLL, FAIL, RICH])
    await using host = await connect(served)
    assert.equal(host.server()?.name, 'dice')
    assert.deepEqual(await host.tools(), ['roll', 'fail', 'rich'])
    const rolled = await host.call('roll', { sides: 6 })
    assert.deepEqual(rolled['content'], [{ type: 'text', text: 'a 6' }])
    const failed = await host.call('fail')
    assert.deepEqual(
      [failed['content'], failed['isError']],
      [[{ type: 'text', text: 'Cannot roll: there is no die (buy one)' }], true],
    )
    await assert.rejects(host.call('nothing'), /The tool "nothing" does not exist/)
    const steps: number[] = []
    const rich = await host.call('rich', {}, { onProgress: (done) => steps.push(done) })
    assert.deepEqual([rich['structuredContent'], steps], [{ wantsProgress: true }, [1, 2]])
    assert.deepEqual((await host.call('rich'))['structuredContent'], { wantsProgress: false })
  })

  test(`a tool of a component is cancelled when ${client} no longer waits`, async () => {
    const stopped = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const wait: ComponentTool = {
      name: 'wait',
      description: 'Waits.',
      async run(_, { signal }) {
        started.resolve()
        await once(signal, 'abort')
        stopped.resolve()
        return ''
      },
    }
    await using home = await madeHome()
    await using served = await startServed(home, [wait], { graceMs: 0 })
    await using host = await connect(served)
    const over = new AbortController()
    const call = host.call('wait', {}, { signal: over.signal })
    await started.promise
    over.abort()
    await assert.rejects(call)
    if (client !== 'SDK 2.x, 2026-07-28') served.end() // a cancellation in older revisions has no session to reach
    await stopped.promise
  })
}

test('arguments that do not match a schema never reach the tool, and the model reads why', async () => {
  await using home = await madeHome()
  await using served = await startServed(home, [ROLL, FAIL])
  await using host = await HTTP_CLIENTS['SDK 2.x']!(served)
  for (const [args, problem] of [
    [{}, /Invalid arguments: .*sides/],
    [{ sides: 1 }, /Invalid arguments: #\/sides: 1 is less than 2/],
    [{ sides: 6, colour: 'red' }, /unknown argument .*colour.*: it takes sides/],
    [{ side: 6 }, /unknown argument .*side.*: did you mean .*sides/],
  ] as const) {
    const { content, isError } = await host.call('roll', args)
    assert.equal(isError, true)
    assert.match(JSON.stringify(content), problem)
  }
  assert.match(
    JSON.stringify((await host.call('fail', { any: 1 }))['content']),
    /unknown argument .*any.*: it takes none/,
  )
})

test('an invalid tool is rejected before anything is served', async () => {
  await using home = await madeHome()
  for (const [tools, problem] of [
    [[{ ...ROLL, name: 'ro ll' }], /Cannot offer the tool "ro ll": its name/],
    [[ROLL, ROLL], /another tool has the same name/],
    [[{ ...ROLL, inputSchema: { type: 'string' } }], /its arguments must be an object/],
  ] as const) {
    await assert.rejects(startServed(home, tools), { kind: 'invalid', message: problem })
  }
  await assert.rejects(startServed(home, [], { name: 'My Dice' }), {
    kind: 'invalid',
    message: /its name is not valid/,
  })
})

test('an error is logged by its start, however long the answer is', async () => {
  const long: ComponentTool = {
    ...FAIL,
    run() {
      throw new Error(`Cannot: ${'x'.repeat(100_000)}`)
    },
  }
  const answers: unknown[] = []
  const log: Log = (_, __, fields) => void answers.push(fields?.['answer'])
  await using home = await madeHome()
  await using served = await startServed(home, [long], { log })
  await using host = await HTTP_CLIENTS['SDK 2.x']!(served)
  await host.call('fail')
  const [answer] = answers.filter((one) => one !== undefined)
  assert.equal(answer, `Cannot: ${'x'.repeat(192)}`)
})

test('calls are logged without their arguments', async () => {
  await using home = await madeHome()
  await using served = await startServed(home, [ROLL])
  await using host = await HTTP_CLIENTS['SDK 2.x']!(served)
  await host.call('roll', { sides: 77 })
  assert.deepEqual(served.logged.slice(0, 2), ['info dice 1.2.3 serves', 'info a call'])
  assert.doesNotMatch(served.logged.join(), /77/)
})
