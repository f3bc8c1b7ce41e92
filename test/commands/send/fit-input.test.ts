import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitInput } from '../../../src/commands/send/fit-input.ts'
import { AgentList, ModelList } from '../../../src/core/protocol/crabtalk.generated.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { parseSendSettings } from '../../support/send-settings.ts'
import { makeTestHost, type TestHost } from '../../support/test-host.ts'

const NEVER = new AbortController().signal
/** Space for truncated input is 0.75 × 2.5 characters per token; above 8 nothing fits. */
const MODELS = [
  { name: 'small', active: true, context: 20_000 },
  { name: 'large', context: 1_000_000 },
  { name: 'unknown' },
]

const AGENTS = [{ name: 'crab' }, { name: 'reader', model: 'large' }]

test('fitInput() does not query models about input that fits every model', async () => {
  await using at = await makeTestHost()
  const input = { content: 'x'.repeat(32_768), attachments: [] }
  const nobody = route({})
  const settings = await parseSendSettings(['-m', 'small'], at.host)
  assert.equal(await fitInput({ input, settings, host: at.host, dispatch: nobody }, NEVER), input)
})

test('fitInput() accepts input that may fit, and input for models of unknown size', async () => {
  assert.equal(await fitted('x'.repeat(150_000)), 'x'.repeat(150_000))
  assert.equal((await fitted('x'.repeat(900_000), '-m', 'large')).length, 900_000)
  assert.equal((await fitted('x'.repeat(900_000), '-m', 'unknown')).length, 900_000)
  assert.equal((await fitted('x'.repeat(900_000), '-m', 'none')).length, 900_000)
})

test("fitInput() uses the agent's own model, unless another is given", async () => {
  assert.equal((await fitted('x'.repeat(900_000), '-a', 'reader')).length, 900_000)
  await assert.rejects(fitted('x'.repeat(900_000), '-a', 'reader', '-m', 'small'), { kind: 'invalid' })
})

test('fitInput() rejects input that cannot fit, with the sizes', async () => {
  await assert.rejects(fitted('x'.repeat(160_001)), {
    kind: 'invalid',
    message: 'Cannot send 160001 characters: small takes 20000 tokens',
    hint: /--truncate/,
  })
})

for (const [where, expected] of [
  ['tail', /^a{20000}b{17500}\n\[22500 characters were cut\]$/],
  ['head', /^\[22500 characters were cut\]\nb{17500}c{20000}$/],
  ['middle', /^a{18750}\n\[22500 characters were cut\]\nc{18750}$/],
] as const) {
  test(`fitInput() truncates at the ${where} when requested`, async () => {
    const content = 'a'.repeat(20_000) + 'b'.repeat(20_000) + 'c'.repeat(20_000)
    assert.match(await fitted(content, '--truncate', where), expected)
  })
}

test('fitInput() does not split a character', async () => {
  for (const where of ['head', 'tail', 'middle']) {
    assert.ok((await fitted(`x${'🦀'.repeat(40_000)}`, '--truncate', where)).isWellFormed())
  }
})

for (const name of ['unknown', 'none']) {
  test(`fitInput() reports that it did not truncate for ${name}, a model of unknown size`, async () => {
    const text = 'x'.repeat(900_000)
    const notice = 'crabtalk: nothing was cut: the context size of the model is unknown\n'
    for (const [argv, said] of [
      [['--truncate', 'head'], notice],
      [['--truncate', 'head', '-q'], ''],
      [[], ''],
    ] as const) {
      await using at = await makeTestHost()
      assert.equal(await fittedAt(at, text, '-m', name, ...argv), text)
      await at.host.stderr.flush()
      assert.equal(at.stderr(), said)
    }
  })
}

async function fitted(content: string, ...argv: string[]): Promise<string> {
  await using at = await makeTestHost()
  return await fittedAt(at, content, ...argv)
}

async function fittedAt({ host }: TestHost, content: string, ...argv: string[]): Promise<string> {
  const dispatch = route({
    listModels: async () => ModelList.fromPartial({ models: MODELS }),
    listAgents: async () => AgentList.fromPartial({ agents: AGENTS }),
  })
  const settings = await parseSendSettings(argv, host)
  const input = { content, attachments: [] }
  return (await fitInput({ input, settings, host, dispatch }, NEVER)).content
}
