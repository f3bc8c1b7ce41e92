import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request, route, streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { toStreamMsg } from '../../../src/tui/controller/message.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import { reduce } from '../../../src/tui/state/reduce.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'
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
  assert.deepEqual([own?.label, own?.isCurrent], ['default of crab', true])
  assert.deepEqual(models.map(({ value }) => value).toSorted(), ['big', 'demo', 'scripted', 'small'])
  const big = models.find(({ value }) => value === 'big')!
  assert.match(big.detail, /1M context · \$3\.00 in, \$15\.00 out per million/)
  await onChosen({ type: 'chosen', picker: 'model', value: 'big' }, chat.context, NEVER)
  assert.deepEqual([chat.state().chosenModel, chat.state().model], ['big', 'big'])
  await runSlash('/model', chat.context, NEVER)
  const next = chat.state().overlay
  assert.ok(next?.kind === 'picker')
  assert.equal(next.title, 'Model: big')
  const marked = next.items.filter(({ isCurrent, detail }) => isCurrent || detail.startsWith('in use'))
  assert.deepEqual(
    marked.map(({ label, isCurrent }) => [label, isCurrent]),
    [['big', true]],
  )
  assert.equal(next.items[0]?.detail, 'scripted')
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
  const choose = (value: string, target: string, level?: string) =>
    onChosen(
      { type: 'chosen', picker: 'model', value, target, ...(level !== undefined && { level }) },
      chat.context,
      NEVER,
    )
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
  await choose('small', 'this agent')
  assert.match(await node.home.read('agents/crab.toml'), /^model = "small"\n(.*\n)*effort = "max"$/m)
  await choose('', 'this agent', '')
  assert.doesNotMatch(await node.home.read('agents/crab.toml'), /^(model|effort)/m)
  await choose('claude-opus-5-5', 'always', 'low')
  assert.deepEqual(seen(), ['claude-opus-5-5', 'low', undefined, undefined])
  const config = await node.home.read('config.toml')
  assert.match(config, /^model = "claude-opus-5-5"$/m)
  assert.match(config, /^effort = "low"$/m)
  await choose('small', 'always')
  assert.match(await node.home.read('config.toml'), /^effort = "low"$/m)
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
    'crabtalk knows no effort levels for small',
  ])
})

test('the choice belongs to the conversation: its first message or /model stores it, and others do not have it', async () => {
  await using server = await startModelServer(() => ({ parts: ['Hi.'] }))
  await using node = await startTestDispatch([])
  const models = 'models = ["small", "gpt-5.1"]'
  const provider = `[[providers]]\nname = "home"\nkind = "openai-compatible"\nbase_url = "${server.url}"\n${models}\n`
  await node.home.write('config.toml', `[llm]\nmodel = "small"\n\n${provider}`)
  const chat = createSlashChat(node.dispatch)
  const open = (session?: { id: string; model: string; effort: string }, more = {}) => {
    const { id, ...choice } = session ?? { id: undefined }
    const pair = { agent: 'crab', sender: 'ann', title: '' }
    chat.context.act({ type: 'conversation', ...pair, session: id, ...choice, ...more })
  }
  const say = async () => {
    const at = {
      state: chat.state(),
      ports: { cwd: node.home.paths.home, env: {} },
      rules: chat.context.rules,
    }
    const message = toStreamMsg({ content: 'hello', attachments: [] }, at)
    for await (const event of streamTurn(node.dispatch, message, NEVER))
      chat.context.act({ type: 'stream', event })
    const { model, reasoning_effort: effort } = server.requests.at(-1)!.json
    return [message.options?.model, model, effort]
  }
  const seen = () => [chat.state().model, chat.state().effort, chat.state().choiceScope]
  open()
  await runSlash('/model gpt-5.1 high', chat.context, NEVER)
  assert.deepEqual(seen(), ['gpt-5.1', 'high', 'next-message'])
  assert.deepEqual(await say(), ['gpt-5.1', 'gpt-5.1', 'high'])
  assert.deepEqual(seen(), ['gpt-5.1', 'high', 'stored'])
  assert.deepEqual(await say(), [undefined, 'gpt-5.1', 'high'])
  await runSlash('/effort low', chat.context, NEVER)
  assert.deepEqual(await say(), [undefined, 'gpt-5.1', 'low'])
  const { session } = chat.state()
  const stored = await request(node.dispatch, 'getSession', { session: session! }, NEVER)
  open()
  assert.deepEqual(seen(), ['small', '', 'stored'])
  open(stored)
  assert.deepEqual(seen(), ['gpt-5.1', 'low', 'stored'])
  await runSlash('/model default small', chat.context, NEVER)
  const { model, effort } = await request(node.dispatch, 'getSession', { session: session! }, NEVER)
  assert.deepEqual([model, effort, ...seen()], ['', '', 'small', '', 'stored'])
})

test('the model of the command line holds for the first conversation, and where no other one is stored', () => {
  const rules = { allow: [], ask: [], deny: [] }
  const options = {
    agent: 'crab',
    sender: 'ann',
    fresh: false,
    rules,
    color: false,
    version: '1',
    model: 'flag',
  }
  const stored = { agent: 'crab', sender: 'ann', session: 's', title: '', model: 'stored', effort: 'low' }
  const open = (state: ChatState, more: object) => reduce(state, { type: 'conversation', ...stored, ...more })
  const first = open(initialState(options), { isFirst: true })
  assert.deepEqual([first.model, first.effort, first.choiceScope], ['flag', '', 'window'])
  const later = open(first, {})
  assert.deepEqual([later.model, later.effort, later.choiceScope], ['stored', 'low', 'stored'])
  const fresh = open(later, { model: '', effort: '' })
  assert.deepEqual([fresh.model, fresh.effort, fresh.choiceScope], ['flag', '', 'window'])
})

test('the effort of the agent is shown as its model has it, before the first turn', () => {
  const model = (name: string, efforts: string[]) => ({ name, efforts, providerName: 'home', active: false })
  const models = [model('thinker', ['low', 'high']), model('plain', [])]
  const show = (name: string, effort: string) => {
    const chat = createSlashChat(route({}))
    chat.context.act({ type: 'usual', usual: { model: name, effort }, models })
    return [chat.state().model, chat.state().effort]
  }
  assert.deepEqual(show('thinker', 'high'), ['thinker', 'high'])
  assert.deepEqual(show('home/thinker', 'medium'), ['home/thinker', 'low'])
  assert.deepEqual(show('thinker', 'minimal'), ['thinker', 'low'])
  assert.deepEqual(show('plain', 'high'), ['plain', ''])
  assert.deepEqual(show('unlisted', 'high'), ['unlisted', 'high'])
})
