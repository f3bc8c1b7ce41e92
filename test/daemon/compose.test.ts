import assert from 'node:assert/strict'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { BUILT_IN_TOOLS } from '../../src/core/base/tool-names.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { attach } from '../../src/daemon/attach.ts'
import { testCaller } from '../support/caller.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { startTestDispatch, systemPrompt } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('the first request of a conversation is shorter than 4,000 bytes', async () => {
  await using node = await startTestDispatch([{ parts: ['yes'] }], { env: { SHELL: '/bin/bash' } })
  await node.ask('say hi')
  const [{ text, json }] = node.server.requests as [(typeof node.server.requests)[0]]
  const tools = (json['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)
  const files = ['read', 'write', 'edit', 'bash', 'glob', 'grep']
  assert.deepEqual(tools, [...files, 'remember', 'forget', 'recall', 'search_sessions', 'ask_user', 'todo'])
  assert.deepEqual([...tools, 'skill'].toSorted(), BUILT_IN_TOOLS.toSorted()) // no skills exist here
  assert.ok(Buffer.byteLength(text) < 4_000, `${Buffer.byteLength(text)} bytes`)
})

test('the system prompt has prompt, environment and instructions in this order, the same for every turn', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }), { env: { SHELL: '/bin/fish' } })
  await node.home.write('Crab.md', 'Of the home.')
  const work = join(node.home.paths.home, '..', 'work', 'deep')
  await mkdir(work, { recursive: true })
  await mkdir(join(work, '..', '.git'))
  await writeFile(join(work, '..', 'AGENTS.md'), 'Of the work.')
  await writeFile(join(work, 'AGENTS.md'), 'Not this.')
  await writeFile(join(work, 'Crab.md'), 'Of the depth.')
  await node.ask('one', { cwd: work })
  await node.ask('two', { cwd: work })
  const [first, second] = node.server.requests.map(({ json }) => systemPrompt(json))
  const order = ['You are crab', '<environment>', 'shell: /bin/fish', `cwd: ${work}`, 'Of the home.']
  const places = [...order, 'Of the work.', 'Of the depth.'].map((text) => first!.indexOf(text))
  assert.ok(
    places.every((place, index) => place > (places[index - 1] ?? -1)),
    String(places),
  )
  assert.doesNotMatch(first!, /Not this/)
  assert.equal(second, first)
})

test('an ephemeral turn writes no byte to the home', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('hi', { options: { ephemeral: true } })
  await node.ask('again', { options: { ephemeral: true } })
  assert.deepEqual(await readdir(node.home.paths.home), ['config.toml'])
})

test('every file is readable by its owner only', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('hi')
  const names = await readdir(node.home.paths.home, { recursive: true })
  for (const name of names) {
    const isOurs = !name.startsWith('run/') && name !== 'config.toml' // run/ itself is closed; the file belongs to the test
    const { mode } = await stat(join(node.home.paths.home, name))
    if (isOurs) assert.equal(mode & 0o077, 0, name)
  }
  assert.ok(names.includes('run') && names.includes('sessions') && names.includes('agents/crab.toml'))
})

test('list_models returns the configured models, their known facts and which one is used', async () => {
  const config =
    '[[providers]]\nname = "other"\nkind = "openai-compatible"\nbase_url = "http://127.0.0.1:9/v1"\nmodels = [{ name = "priced", context = 1000, input_usd = 1, output_usd = 2 }]\n'
  await using node = await startTestDispatch([], { config })
  const { models } = await request(node.dispatch, 'listModels', {}, NEVER)
  const known = new Map(models.map((model) => [model.name, model]))
  assert.equal(known.get('scripted')?.active, true)
  const { active, context, inputUsd, outputUsd, providerName } = known.get('priced')!
  assert.deepEqual([active, context, inputUsd, outputUsd, providerName], [false, 1_000, 1, 2, 'other'])
})

test('every turn reports a wrong config.toml, and other operations keep working', async () => {
  await using node = await startTestDispatch([], { config: 'modell = "x"\n' })
  await assert.rejects(node.ask('hi'), { kind: 'config', message: /config\.toml:5/ })
  await request(node.dispatch, 'ping', {}, NEVER)
  await request(node.dispatch, 'listConversations', {}, NEVER)
})

test('the next turn reads a config.toml that was fixed', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  const config = await node.home.read('config.toml')
  await node.home.write('config.toml', 'broken')
  await assert.rejects(node.ask('hi'), { kind: 'config' })
  await node.home.write('config.toml', config)
  assert.equal((await node.ask('hi')).at(-1)?.$case, 'end')
})

test('attach() finds the home by the environment, touches nothing before it must, and detaches', async () => {
  await using home = await temporaryHome()
  {
    await using attached = await attach(testCaller(home.paths.home, { cwd: () => '/' }))
    await request(attached.dispatch, 'ping', {}, NEVER)
    assert.deepEqual(await request(attached.dispatch, 'listConversations', {}, NEVER), {
      conversations: [],
      total: 0,
    })
  }
  await assert.rejects(readdir(home.paths.home), { code: 'ENOENT' })
})

const FLOOD = { call: 'a', name: 'bash', args: '{"command":"head -c 100000 /dev/zero | tr \\"\\\\0\\" x"}' }

test('spilled tool output is deleted with its conversation, or with the process when it is not stored', async () => {
  await using node = await startTestDispatch([{ parts: [FLOOD] }, { parts: ['ok'] }])
  const folder = join(node.home.paths.cache, 'output')
  await node.ask('go', { options: { allow: ['bash'], env: { PATH: process.env['PATH'] ?? '' } } })
  const [session = ''] = await readdir(folder)
  assert.equal((await readdir(join(folder, session))).length, 1)
  await request(node.dispatch, 'deleteConversation', { filePath: session }, NEVER)
  assert.deepEqual(await readdir(folder), [])
})

test('an ephemeral turn leaves none of the output that its tools spilled', async () => {
  const node = await startTestDispatch([{ parts: [FLOOD] }, { parts: ['ok'] }])
  const folder = join(node.home.paths.cache, 'output')
  await using _home = node.home
  await using _server = node.server
  const env = { PATH: process.env['PATH'] ?? '' }
  await node.ask('go', { options: { allow: ['bash'], env, ephemeral: true } })
  assert.equal((await readdir(folder)).length, 1)
  await node.services[Symbol.asyncDispose]()
  assert.deepEqual(await readdir(folder), [])
})
