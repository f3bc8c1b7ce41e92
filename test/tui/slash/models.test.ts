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

const THINKER = CONFIG.replace('"small"', '"small", "claude-opus-5-5"')

test('a model and its effort are chosen for the conversation, for the agent, or for all', async () => {
  await using node = await startTestDispatch([], { config: THINKER })
  const chat = createSlashChat(node.dispatch)
  const choose = (value: string, target: string, level: string) =>
    onChosen({ type: 'chosen', picker: 'model', value, target, level }, chat.context, NEVER)
  const seen = () => {
    const { model, effort, chosenModel, chosenEffort } = chat.state()
    return [model, effort, chosenModel, chosenEffort]
  }
  await choose('claude-opus-5-5', 'this conversation', 'high')
  assert.deepEqual(seen(), ['claude-opus-5-5', 'high', 'claude-opus-5-5', 'high'])
  await choose('claude-opus-5-5', 'this agent', 'max')
  assert.deepEqual(seen(), ['claude-opus-5-5', 'max', undefined, undefined])
  const agent = await node.home.read('agents/crab.toml')
  assert.match(agent, /^model = "claude-opus-5-5"$/m)
  assert.match(agent, /^effort = "max"$/m)
  await choose('', 'this agent', '')
  assert.doesNotMatch(await node.home.read('agents/crab.toml'), /^(model|effort)/m)
  await choose('claude-opus-5-5', 'always', 'low')
  assert.deepEqual(seen(), ['claude-opus-5-5', 'low', undefined, undefined])
  const config = await node.home.read('config.toml')
  assert.match(config, /^model = "claude-opus-5-5"$/m)
  assert.match(config, /^effort = "low"$/m)
})

test('/model NAME EFFORT and /effort LEVEL set the effort; /effort offers the levels of the model', async () => {
  await using node = await startTestDispatch([], { config: THINKER })
  const chat = createSlashChat(node.dispatch)
  await runSlash('/model claude-opus-5-5 xhigh', chat.context, NEVER)
  assert.deepEqual([chat.state().model, chat.state().effort], ['claude-opus-5-5', 'xhigh'])
  await runSlash('/effort', chat.context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'menu')
  assert.deepEqual(
    overlay.items.map(({ label }) => label),
    ['default', 'low', 'medium', 'high', 'xhigh', 'max'],
  )
  assert.equal(overlay.selected, 4)
  await onChosen({ type: 'chosen', picker: 'effort', value: 'low' }, chat.context, NEVER)
  assert.deepEqual([chat.state().effort, chat.state().overlay], ['low', undefined])
  await runSlash('/effort default', chat.context, NEVER)
  assert.deepEqual([chat.state().effort, chat.state().chosenEffort], ['', undefined])
  await runSlash('/effort much', chat.context, NEVER)
  await runSlash('/model small', chat.context, NEVER)
  await runSlash('/effort', chat.context, NEVER)
  const texts = chat.blocks().map((block) => block.kind === 'notice' && block.text)
  assert.deepEqual(texts.slice(-3), [
    'Unknown effort much',
    'Model: small',
    'small has no levels of effort that crabtalk knows',
  ])
})
