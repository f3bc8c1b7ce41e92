import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OnAsk } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { isRunning } from '../support/mcp/record-folder.ts'
import { startModelServer } from '../support/model-server.ts'
import { startObservedNode } from '../support/observed-node.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }
const LOOK = { call: 'a', name: 'read', args: '{"path":"none"}' }

test('a reload that adds one MCP server leaves the process of another alone', async () => {
  await using node = await startObservedNode()
  const [one, two] = [node.watch('one'), node.watch('two')]
  await node.declare('crab', one)
  await node.services.agentSync.syncAll()
  const pid = await node.pidOf(one)
  await node.declare('crab', one, two)
  await node.declare('other', one)
  await node.reload()
  await node.pidOf(two)
  assert.deepEqual([one.starts(), two.starts().length], [[pid], 1])
  assert.deepEqual((await node.peers())[0]?.owners.map(({ agent }) => agent).toSorted(), ['crab', 'other'])
  await node.declare('crab', two)
  await node.declare('other')
  await node.reload()
  await until('the first has ended', () => !isRunning(pid))
  assert.equal(two.starts().length, 1)
})

test('a broken config.toml changes nothing, and the error says where it is wrong', async () => {
  await using node = await startObservedNode(() => ({ parts: ['yes'] }))
  await node.ask('hi')
  const server = node.watch('one')
  const before = node.services.liveConfig.current
  const text = await node.home.read('config.toml')
  await node.declare('crab', server)
  await node.home.write('config.toml', `${text}\n[permissions]\nalow = []\n`)
  await assert.rejects(node.reload(), {
    kind: 'config',
    message: /^Cannot reload: config\.toml:7: .*alow/,
    hint: /allow.*; fix it and reload again; until then nothing changes$/,
  })
  assert.equal(node.services.liveConfig.current.provider, before.provider)
  assert.deepEqual(await node.peers(), [])
  await node.ask('again', { options: { noMcp: true } })
  assert.equal(node.server.requests.length, 2)
})

test('a model that cannot be selected changes nothing', async () => {
  await using node = await startObservedNode(() => ({ parts: ['yes'] }))
  await node.ask('hi')
  const before = node.services.liveConfig.current
  const closed = '[[providers]]\nname = "a"\nkind = "openai"\napi_key = "k"\nmodels = ["x"]\n'
  await node.home.write('config.toml', `model = "y"\n${closed}`)
  await assert.rejects(node.reload(), { kind: 'config', message: /^Cannot reload: .*"y"/ })
  assert.equal(node.services.liveConfig.current.provider, before.provider)
})

test('a running turn finishes with its model and rules, and the next one uses the new ones', async () => {
  await using other = await startModelServer([{ parts: ['from the new'] }])
  await using node = await startObservedNode([{ parts: ['Wait.', LOOK] }, { parts: ['from the old'] }])
  const text = await node.home.read('config.toml')
  let streamed = ''
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'go' }, NEVER)) {
    if (event?.$case === 'chunk') streamed += event.value.content
    if (event?.$case !== 'toolStart') continue
    const fresh = text.replace(node.server.url, other.url).replace('"scripted"', '"newer"')
    await node.home.write('config.toml', `${fresh}[permissions]\ndeny = ["read"]\n`)
    await node.reload()
  }
  assert.match(streamed, /from the old$/)
  assert.deepEqual([node.server.requests.length, other.requests.length], [2, 0])
  assert.doesNotMatch(JSON.stringify(node.server.requests[1]?.json), /denied|not permitted/)
  await node.ask('and now?')
  assert.equal(node.server.requests.length, 2)
  assert.equal(other.requests[0]?.json['model'], 'newer')
  assert.deepEqual(
    (await node.services.rules()).map(({ pattern }) => pattern),
    ['read'],
  )
  assert.ok(node.logged.includes('info reloaded; changed: models, [permissions]'), node.logged.join('\n'))
})

test('a pending question survives a reload, and its answer ends the turn', async () => {
  const options = ['a', 'b'].map((label) => ({ label, description: '' }))
  const questions = [{ question: 'Which?', header: 'Which', options, multiSelect: false }]
  const call = { call: 'q', name: 'ask_user', args: JSON.stringify({ questions }) }
  await using node = await startObservedNode([{ parts: [call] }, { parts: ['Thanks.'] }])
  const body = { ...PAIR, content: 'go', options: { onAsk: OnAsk.CLIENT } }
  let last = ''
  for await (const { event } of streamTurn(node.dispatch, body, NEVER)) {
    last = event!.$case
    if (event?.$case !== 'askUser') continue
    const text = await node.home.read('config.toml')
    await node.home.write('config.toml', `${text}[permissions]\ndeny = ["bash"]\n`)
    await node.reload()
    const [ask] = (await request(node.dispatch, 'listAsks', {}, NEVER)).asks
    const answer = { ...PAIR, askId: ask!.ask!.askId, content: '{"Which?":"a"}' }
    await request(node.dispatch, 'replyToAsk', answer, NEVER)
  }
  assert.equal(last, 'end')
  assert.match(JSON.stringify(node.server.requests[1]?.json), /Which\?/)
})

test('an agent whose file is broken keeps its servers, the others are reloaded, and the error reports both', async () => {
  await using node = await startObservedNode()
  const [one, two] = [node.watch('one'), node.watch('two')]
  await node.declare('crab', one)
  await node.services.agentSync.syncAll()
  const pid = await node.pidOf(one)
  await node.home.write('agents/crab.toml', 'model = "x"\nmcps = 5\n')
  await node.declare('other', two)
  await assert.rejects(node.reload(), {
    kind: 'config',
    message: /^Cannot reload everything: agents\/crab\.toml:2: /,
    hint: /fix it and reload again; everything else was reloaded/,
  })
  await node.pidOf(two)
  assert.ok(isRunning(pid))
  await node.declare('crab', one)
  await node.reload()
  assert.deepEqual(one.starts(), [pid])
})

test('an agent whose file is broken answers as before, by the same rules, until it is fixed', async () => {
  const call = { call: 'c', name: 'bash', args: '{"command":"echo hi"}' }
  await using node = await startObservedNode(({ text }) => ({
    parts: text.includes('"tool"') ? ['done'] : [call],
  }))
  const good = 'description = "x"\n[permissions]\ndeny = ["bash"]\n'
  await node.home.write('agents/crab.md', 'Be kind.')
  await node.home.write('agents/crab.toml', good)
  await node.services.agentSync.syncAll()
  await node.home.write('agents/crab.toml', `${good}nonsense`)
  await assert.rejects(node.reload(), { kind: 'config' })
  await node.ask('one', { options: { allow: ['bash'] } })
  assert.match(node.server.requests[0]!.text, /Be kind\./)
  assert.match(
    node.server.requests[1]!.text,
    /Not permitted[^"]*agents\/crab\.toml \(previous version\) denies bash/,
  )
  await node.home.write('agents/crab.toml', 'description = "x"\n')
  await node.reload()
  await node.ask('two', { options: { allow: ['bash'] } })
  assert.doesNotMatch(node.server.requests[3]!.text.slice(-400), /Not permitted/)
})

test('a changed [env] restarts the servers that use it, and nothing else', async () => {
  await using node = await startObservedNode([], { config: '[env]\nA = "1"\n' })
  const server = node.watch('one')
  await node.declare('crab', server)
  await node.services.agentSync.syncAll()
  const pid = await node.pidOf(server)
  const text = await node.home.read('config.toml')
  await node.home.write('config.toml', `# moved\n${text}[permissions]\nallow = ["read"]\n`)
  await node.reload()
  assert.deepEqual(server.starts(), [pid])
  await node.home.write('config.toml', text.replace('"1"', '"2"'))
  await node.reload()
  assert.notEqual(await node.pidOf(server), pid)
  await until('the old one has ended', () => !isRunning(pid))
  assert.equal(server.starts().length, 2)
})

test('models are opened again only when their configuration changes', async () => {
  await using node = await startObservedNode(() => ({ parts: ['yes'] }))
  await node.ask('hi')
  const models = await node.services.models(NEVER)
  await node.home.write('config.toml', `# moved\n${await node.home.read('config.toml')}`)
  await node.reload()
  assert.equal(await node.services.models(NEVER), models)
  await request(node.dispatch, 'setActiveModel', { model: 'scripted' }, NEVER)
  await node.reload()
  assert.equal(await node.services.models(NEVER), models)
  assert.ok(node.logged.every((line) => line === 'info reloaded; nothing changed'))
  const text = await node.home.read('config.toml')
  await node.home.write('config.toml', text.replace('"scripted"', '"another"'))
  await node.reload()
  assert.notEqual(await node.services.models(NEVER), models)
  assert.equal((await node.services.models(NEVER)).defaultModel(), 'another')
})

test('concurrent reloads run one after another, also after one that fails', async () => {
  await using node = await startObservedNode()
  await node.services.liveConfig.config()
  const text = await node.home.read('config.toml')
  await node.home.write('config.toml', `${text}[permissions]\ndeny = ["bash"]\n`)
  await node.home.write('agents/crab.toml', 'mcps = 5\n')
  const results = await Promise.allSettled([node.reload(), node.reload(), node.reload()])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  assert.deepEqual(node.logged, [
    'info reloaded; changed: [permissions]',
    'info reloaded; nothing changed',
    'info reloaded; nothing changed',
  ])
})

test('a reload reports what is wrong with skills and subscriptions', async () => {
  await using node = await startObservedNode()
  await node.home.write('skills/bad/SKILL.md', '---\nname: bad\n---\n')
  await node.home.write('events/subscriptions.toml', 'next_id = [\n')
  await assert.rejects(node.reload(), {
    kind: 'config',
    message: /^Cannot reload everything: .*subscriptions\.toml/,
  })
  assert.match(node.logged.join('\n'), /warn .*skills\/bad\/SKILL\.md:1: it has no "description"/)
})
