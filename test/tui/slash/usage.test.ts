import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { runSlash } from '../../../src/tui/slash/run.ts'
import { startTestDispatch, type TestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const USAGE = { input: 40_000, output: 250, cacheRead: 30_000 }

test('/cost shows what the last turns used', async () => {
  await using node = await startTestDispatch([{ parts: ['Hi.'], usage: USAGE }])
  const facts = '{ name = "scripted", context = 200000, input_usd = 3, output_usd = 15 }'
  const provider = `name = "p"\nkind = "openai-compatible"\nbase_url = "${node.server.url}"\nmodels = [${facts}]\n`
  await node.home.write('config.toml', `model = "scripted"\n\n[[providers]]\n${provider}`)
  const chat = await chatAfterTurn(node)
  await runSlash('/cost', chat.context, NEVER)
  const { cost, input, output } = rows(chat)
  assert.match(cost!, /^\$0\.\d\d$/)
  assert.deepEqual([input, output], ['40k · 75 % from the cache', '250'])
})

test('/cost reports an unknown price as unknown', async () => {
  await using node = await startTestDispatch([{ parts: ['Hi.'], usage: { input: 10, output: 2 } }])
  const chat = await chatAfterTurn(node)
  await runSlash('/cost', chat.context, NEVER)
  assert.equal(rows(chat)['cost'], 'unknown: the price of a model is not known')
})

test('/cost and /context have nothing to show before the first turn', async () => {
  await using node = await startTestDispatch([])
  const chat = createSlashChat(node.dispatch)
  await runSlash('/cost', chat.context, NEVER)
  await runSlash('/context', chat.context, NEVER)
  assert.deepEqual(
    chat.blocks().map((block) => block.kind),
    ['notice', 'notice'],
  )
})

/** Returns a chat that has followed one turn. */
async function chatAfterTurn(node: TestDispatch): Promise<SlashChat> {
  const chat = createSlashChat(node.dispatch)
  const message = { agent: 'crab', sender: 'ann', content: 'hello' }
  for await (const event of streamTurn(node.dispatch, message, NEVER)) {
    chat.context.act({ type: 'stream', event: StreamEvent.create(event) })
  }
  return chat
}

/** Returns the cells printed last, by the first column. */
function rows(chat: SlashChat): Record<string, string> {
  const block = chat.blocks().at(-1)
  assert.ok(block?.kind === 'output')
  return Object.fromEntries((block.rows ?? []).map(([name = '', value = '']) => [name, value]))
}
