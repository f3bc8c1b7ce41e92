import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startModelServer } from '../support/model-server.ts'
import { DAEMON, startTestDispatch, type TestDispatch, type WireEvent } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('turns that start after config.toml changes use the new file, and share one read of it', async () => {
  await using other = await startModelServer(() => ({ parts: ['from the new'] }))
  await using node = await startLogged()
  assert.deepEqual(summarize(await node.ask('hi')), { text: 'from the old', notices: [] })
  const text = await node.home.read('config.toml')
  const fresh = `${text.replace(node.server.url, other.url)}[permissions]\ndeny = ["read"]\n`
  await node.home.write('config.toml', fresh)
  const turns = await Promise.all(['ann', 'bob', 'eve'].map((sender) => node.ask('and now?', { sender })))
  for (const turn of turns) assert.deepEqual(summarize(turn), { text: 'from the new', notices: [] })
  assert.deepEqual(
    (await node.services.rules()).map(({ pattern }) => pattern),
    ['read'],
  )
  assert.deepEqual(node.logged, ['info config.toml has changed: models, [permissions]'])
})

test('turns report why a changed config.toml is not used, until it is fixed', async () => {
  await using node = await startLogged()
  await node.ask('hi')
  const text = await node.home.read('config.toml')
  await node.home.write('config.toml', `${text}[permissions]\nalow = []\n`)
  for (let turn = 0; turn < 2; turn++) {
    const { notices, text: said } = summarize(await node.ask('still there?'))
    assert.match(notices[0] ?? '', /^config\.toml:6: .*alow.*; the previous configuration stays in use$/)
    assert.deepEqual([notices.length, said], [1, 'from the old'])
  }
  assert.equal(node.logged.length, 1, 'the log has it once')
  await node.home.write('config.toml', text)
  assert.deepEqual(summarize(await node.ask('and now?')), { text: 'from the old', notices: [] })
})

test('operations that list models and required variables use the current config.toml', async () => {
  await using node = await startLogged()
  const names = async () => {
    return (await request(node.dispatch, 'listModels', {}, NEVER)).models.map(({ name }) => name)
  }
  assert.ok((await names()).includes('scripted'))
  await node.home.write('config.toml', '[[providers]]\nname = "more"\nkind = "anthropic"\nmodels = ["m"]\n')
  const { environment } = await request(node.dispatch, 'hello', {}, NEVER)
  assert.ok('ANTHROPIC_API_KEY' in environment)
  assert.deepEqual(
    (await names()).filter((name) => ['m', 'scripted'].includes(name)),
    ['m'],
  )
})

test('a long-lived node retries a server that could not list its models', async () => {
  await using node = await startLogged()
  await using late = await startModelServer(() => ({ parts: ['here I am'] }))
  await node.home.write('config.toml', `[llm]\nbase_url = "${late.url}"\n`)
  await late[Symbol.asyncDispose]()
  await assert.rejects(node.ask('hi'), { kind: 'unavailable' })
  const port = Number(new URL(late.url).port)
  await using _again = await startModelServer(() => ({ parts: ['here I am'] }), { port })
  assert.equal(summarize(await node.ask('hi')).text, 'here I am')
})

test('get_stats does not wait for a model server that does not answer', async () => {
  await using node = await startLogged()
  await node.ask('hi')
  await using silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  await node.home.write('config.toml', `[llm]\nbase_url = "http://127.0.0.1:${port}/v1"\n`)
  const { activeModel } = await request(node.dispatch, 'getStats', {}, NEVER)
  assert.equal(activeModel, 'scripted')
  silent.closeAllConnections()
})

test('a turn that names its model waits only a limited time for a stopped server to list its models', async () => {
  await using node = await startLogged()
  let lists = 0
  await using server = createServer((request, response) => {
    const isList = request.url?.endsWith('/models')
    if (!isList || ++lists === 1) response.writeHead(isList ? 500 : 418).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await node.home.write('config.toml', `[llm]\nbase_url = "http://127.0.0.1:${port}/v1"\n`)
  for (let turn = 1; turn <= 2; turn++) {
    const end = (await node.ask('hi', { options: { model: 'mine' } })).at(-1)
    assert.match(end?.$case === 'end' ? end.value.error : '', /418/)
    assert.equal(lists, turn)
  }
  server.closeAllConnections()
})

test('a reload that is cancelled while it asks a server changes nothing', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['from the old'] }))
  await node.ask('hi')
  let lists = 0
  await using server = createServer((request, response) => {
    if (!request.url?.endsWith('/models')) response.writeHead(418).end()
    else if (++lists > 1) response.end('{"data":[{"id":"late"}]}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await node.home.write('config.toml', `[llm]\nbase_url = "http://127.0.0.1:${port}/v1"\n`)
  const stop = new AbortController()
  const reload = request(node.dispatch, 'reload', {}, stop.signal)
  await once(server, 'request')
  stop.abort()
  await assert.rejects(reload, { kind: 'cancelled' })
  const end = (await node.ask('hi')).at(-1)
  assert.match(end?.$case === 'end' ? end.value.error : '', /late.*418/)
  server.closeAllConnections()
})

test('a turn that starts while models are listed uses the config.toml of that moment', async () => {
  await using other = await startModelServer(() => ({ parts: ['from the new'] }))
  await using node = await startLogged()
  const text = await node.home.read('config.toml')
  let lists = 0
  await using server = createServer((_, response) => {
    if (++lists === 1) response.writeHead(500).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await node.ask('hi')
  await node.home.write('config.toml', `[llm]\nbase_url = "http://127.0.0.1:${port}/v1"\n`)
  await assert.rejects(node.ask('hi'), { kind: 'unavailable' })
  const early = Promise.allSettled([node.ask('hi', { sender: 'bob' })]) // may see either configuration
  await once(server, 'request')
  await node.home.write('config.toml', text.replace(node.server.url, other.url))
  assert.equal(summarize(await node.ask('and now?')).text, 'from the new')
  server.closeAllConnections()
  await early
})

async function startLogged(): Promise<TestDispatch & { logged: string[] }> {
  const logged: string[] = []
  const log = (level: string, message: string) => {
    if (message.includes('config.toml')) logged.push(`${level} ${message}`)
  }
  const node = await startTestDispatch(() => ({ parts: ['from the old'] }), { log, daemon: DAEMON })
  return { ...node, logged }
}

function summarize(events: readonly WireEvent[]): { text: string; notices: string[] } {
  const text = events.map((event) => (event.$case === 'chunk' ? event.value.content : '')).join('')
  const notices = events.flatMap((event) => (event.$case === 'notice' ? [event.value.message] : []))
  return { text, notices }
}
