import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { startModelServer } from '../../support/model-server.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const CONFIG = `
[[providers]]
name = "home"
kind = "openai-compatible"
base_url = "http://127.0.0.1:1/v1"
models = [{ name = "big", context = 1000000, input_usd = 3, output_usd = 15 }, "small"]
`

test('/model offers every model with its known facts, and the choice applies to this chat', async () => {
  await using node = await startTestDispatch([], { config: CONFIG })
  const chat = createSlashChat(node.dispatch)
  await runSlash('/model', chat.context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'picker')
  const [own, ...models] = overlay.items
  assert.deepEqual([own?.label, own?.isCurrent], ["the agent's own", true])
  assert.deepEqual(models.map(({ value }) => value).toSorted(), ['big', 'demo', 'scripted', 'small'])
  const big = models.find(({ value }) => value === 'big')!
  assert.match(big.detail, /1M context · \$3\.00 in, \$15\.00 out per million/)
  await onChosen({ type: 'chosen', picker: 'model', value: 'big' }, chat.context, NEVER)
  assert.deepEqual([chat.state().chosenModel, chat.state().model], ['big', 'big'])
  await onChosen({ type: 'chosen', picker: 'model', value: '' }, chat.context, NEVER)
  assert.equal(chat.state().chosenModel, undefined)
})

test('/model NAME chooses it, and suggests the nearest name for an unknown one', async () => {
  await using node = await startTestDispatch([], { config: CONFIG })
  const chat = createSlashChat(node.dispatch)
  await runSlash('/model small', chat.context, NEVER)
  assert.equal(chat.state().chosenModel, 'small')
  await runSlash('/model home/big', chat.context, NEVER)
  assert.equal(chat.state().chosenModel, 'home/big')
  await runSlash('/model smal', chat.context, NEVER)
  assert.equal(chat.state().chosenModel, 'home/big')
  assert.deepEqual(chat.blocks().slice(-1), [
    { kind: 'notice', tone: 'warning', text: 'Unknown model smal', hint: 'did you mean "small"?' },
  ])
})

test('/model knows the models that servers of providers list, and asks a provider about others', async () => {
  await using server = await startModelServer([], { models: ['one', 'two'] })
  await using node = await startTestDispatch([])
  await node.home.write('config.toml', `[llm]\nbase_url = "${server.url}"\nmodel = "one"\n`)
  const chat = createSlashChat(node.dispatch)
  await runSlash('/model', chat.context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'picker')
  assert.deepEqual(overlay.items.map(({ value }) => value).toSorted(), ['', 'demo', 'one', 'two'])
  await runSlash('/model two', chat.context, NEVER)
  assert.equal(chat.state().chosenModel, 'two')
  await runSlash('/model entirely-other', chat.context, NEVER)
  assert.equal(chat.state().chosenModel, 'two')
  await runSlash('/model llm/entirely-other', chat.context, NEVER)
  assert.equal(chat.state().chosenModel, 'llm/entirely-other')
})

test('/model default NAME is written to config.toml', async () => {
  await using node = await startTestDispatch([], { config: CONFIG })
  const chat = createSlashChat(node.dispatch)
  await runSlash('/model default small', chat.context, NEVER)
  assert.match(await node.home.read('config.toml'), /model = "small"/)
  assert.deepEqual(chat.state().models.find(({ active }) => active)?.name, 'small')
  assert.equal(chat.state().chosenModel, undefined)
  await runSlash('/model home/big', chat.context, NEVER)
  await runSlash('/model default small', chat.context, NEVER)
  assert.deepEqual(
    chat.blocks().map((block) => block.kind === 'notice' && block.text),
    ['Default model: small', 'Model: home/big', 'Default model: small'],
  )
  await assert.rejects(runSlash('/model default smal', chat.context, NEVER), { kind: 'missing' })
})
