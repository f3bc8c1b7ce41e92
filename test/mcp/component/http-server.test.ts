import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { madeHome, type ServedComponent, startServed } from '../../support/component/served-component.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'

test('/health answers any local client, and reveals no secret', async () => {
  await using home = await madeHome()
  await using served = await startServed(home)
  const { status, text, headers } = await ask(served, { path: '/health' })
  const { started, ...health } = JSON.parse(text) as Record<string, unknown>
  assert.deepEqual([status, health], [200, { name: 'dice', version: '1.2.3', pid: 4321 }])
  assert.ok(Math.abs(Date.parse(String(started)) - Date.now()) < 60_000)
  assert.equal(headers['content-type'], 'application/json')
  assert.doesNotMatch(text, new RegExp(served.key))
  assert.equal((await ask(served, { path: '/health', method: 'HEAD' })).status, 200)
  assert.equal((await ask(served, { path: '/health', method: 'POST' })).status, 405)
})

test('/mcp answers only clients with the key', async () => {
  await using home = await madeHome()
  await using served = await startServed(home)
  const { key } = served
  for (const authorization of [
    '',
    'Bearer',
    'Bearer x',
    `Bearer ${key}x`,
    `Bearer ${key.slice(1)}`,
    `Basic ${key}`,
    key,
  ]) {
    const { status, headers } = await mcp(served, { authorization })
    assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer'], authorization)
  }
  for (const authorization of [`Bearer ${key}`, `bearer ${key}`]) {
    const { status, text } = await mcp(served, { authorization })
    assert.equal(status, 200)
    assert.match(text, /"tools":\[\]/)
  }
})

test('browser pages are refused, by the Host header and by the Origin header', async () => {
  await using home = await madeHome()
  await using served = await startServed(home)
  const authorization = `Bearer ${served.key}`
  for (const host of ['evil.example', `evil.example:${served.port}`, '127.0.0.1.nip.io']) {
    const { status } = await mcp(served, { authorization, host })
    assert.equal(status, 403, host)
    assert.equal((await ask(served, { path: '/health', headers: { host } })).status, 403)
  }
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1.nip.io']) {
    assert.equal((await mcp(served, { authorization, origin })).status, 403, origin)
  }
  for (const host of [`localhost:${served.port}`, '127.0.0.1']) {
    assert.equal((await mcp(served, { authorization, host, origin: 'http://localhost:3000' })).status, 200)
  }
})

test('requests that are not MCP calls are refused', async () => {
  await using home = await madeHome()
  await using served = await startServed(home, [], { maxBodyBytes: 1_000 })
  const headers = { authorization: `Bearer ${served.key}` }
  assert.equal((await ask(served, { path: '/' })).status, 404)
  assert.equal((await ask(served, { path: '/mcp/..%2f' })).status, 404)
  assert.equal((await ask(served, { path: '/mcp', headers })).status, 405)
  assert.equal((await mcp(served, headers, '{')).status, 400)
  assert.equal((await mcp(served, { ...headers, 'content-type': 'text/plain' })).status, 415)
  const large = CALL.replace('{', `{"pad":"${'x'.repeat(2_000)}",`)
  assert.equal((await mcp(served, headers, large)).status, 413)
  assert.equal((await mcp(served, headers, CALL.padEnd(999))).status, 200)
})

test('the body of an unauthorized request is not read', async () => {
  await using home = await madeHome()
  await using served = await startServed(home)
  const socket = connect(served.port, '127.0.0.1')
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n{`,
  )
  let answer = ''
  for await (const piece of socket) answer += piece
  assert.match(answer, /^HTTP\/1\.1 401 .*\r\n[\s\S]*connection: close/i)
})

test('invalid HTTP and invalid addresses do not stop the server', async () => {
  await using home = await madeHome()
  await using served = await startServed(home)
  for (const line of [
    'nonsense\r\n\r\n',
    'GET /health HTTP/1.1\r\nhost:\r\n\r\n',
    'GET http://[ HTTP/1.1\r\nhost: a b\r\n\r\n',
    'GET // HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'CONNECT x:1 HTTP/1.1\r\n\r\n',
    'TRACE / HTTP/1.1\r\nhost: localhost\r\n\r\n',
  ]) {
    const socket = connect(served.port, '127.0.0.1')
    socket.on('error', () => {}) // the connection may be cut
    socket.end(line)
    for await (const _ of socket.iterator({ destroyOnReturn: true }));
  }
  assert.equal((await ask(served, { path: '/health' })).status, 200)
})

interface HttpResponse {
  status: number
  text: string
  headers: Record<string, unknown>
}

interface HttpRequest {
  path: string
  method?: string
  headers?: Record<string, string>
  body?: string
}

function mcp(served: ServedComponent, headers: Record<string, string>, body = CALL): Promise<HttpResponse> {
  const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return ask(served, { path: '/mcp', method: 'POST', headers: { ...usual, ...headers }, body })
}

function ask(
  { port }: ServedComponent,
  { path, method = 'GET', headers = {}, body = '' }: HttpRequest,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, async (answer) => {
      let text = ''
      for await (const piece of answer) text += piece
      resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
