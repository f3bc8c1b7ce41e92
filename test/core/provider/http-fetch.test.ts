import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpFetch, readBodyText } from '../../../src/core/provider/http-fetch.ts'

const PATIENT = { firstByteMs: 20_000, idleMs: 20_000 }

test('httpFetch() posts a body of any length and returns status, headers and body', async () => {
  await using server = await serve(async (request, response) => {
    response.writeHead(201, { 'x-a': ['1', '2'] })
    response.end(`${request.method} ${request.headers['content-length']} ${(await text(request)).length}`)
  })
  const body = 'é'.repeat(200_000)
  const response = await httpFetch(PATIENT)(server.url, { method: 'POST', headers: { b: 'c' }, body })
  assert.equal(response.status, 201)
  assert.equal(response.ok, true)
  assert.equal(response.headers.get('X-A'), '1, 2')
  assert.equal(await readBodyText(response.body), 'POST 400000 200000')
})

test('httpFetch() requests no compression and follows no redirect', async () => {
  await using server = await serve((request, response) => {
    response.writeHead(302, { location: '/elsewhere' }).end(request.headers['accept-encoding'])
  })
  const response = await httpFetch(PATIENT)(server.url)
  assert.equal(response.status, 302)
  assert.equal(await readBodyText(response.body), 'identity')
})

test('httpFetch() resends when the server closed a kept-alive connection', async () => {
  let connections = 0
  const closing: RequestListener = (request, response) => {
    const { socket } = request
    response.end('ok', () => setImmediate(() => socket.resetAndDestroy()))
  }
  await using server = await serve(closing, () => connections++)
  const fetch = httpFetch(PATIENT)
  for (let at = 0; at < 20; at++) assert.equal(await readBodyText((await fetch(server.url)).body), 'ok')
  assert.ok(connections > 1, `${connections}`)
})

test('httpFetch() passes on a large answer in pieces of 8 KiB, one per turn of the event loop', async () => {
  const event = `data: ${'x'.repeat(170)}\n\n`
  await using server = await serve((_, response) => {
    for (let at = 0; at < 2000; at++) response.write(event) // one chunk of HTTP for each event
    response.end(Buffer.alloc(100_000, 'y'))
  })
  let turn = 0
  let next = setImmediate(function count() {
    turn++
    next = setImmediate(count)
  })
  const turns: number[] = []
  const pieces: Buffer[] = []
  for await (const piece of (await httpFetch(PATIENT)(server.url)).body!) {
    turns.push(turn)
    pieces.push(Buffer.from(piece))
  }
  clearImmediate(next)
  assert.equal(Buffer.concat(pieces).toString(), event.repeat(2000) + 'y'.repeat(100_000))
  assert.ok(Math.max(...pieces.map(({ length }) => length)) <= 8192)
  assert.ok(pieces.length < 1000, `${pieces.length} pieces`)
  assert.deepEqual(turns, [...new Set(turns)])
})

test('httpFetch() reads only on demand, and does not treat a paused reader as silence', async () => {
  let taken = 0
  await using server = await serve(async (_, response) => {
    for (; taken < 500; taken++) {
      if (!response.write(Buffer.alloc(64 * 1024))) await once(response, 'drain')
    }
    response.end()
  })
  const response = await httpFetch({ ...PATIENT, idleMs: 600 })(server.url)
  const reader = response.body!.getReader()
  let bytes = (await reader.read()).value!.length
  await sleep(700)
  assert.ok(taken < 500, `${taken} chunks were taken`)
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) bytes += chunk.value.length
  assert.equal(bytes, 500 * 64 * 1024)
})

test('httpFetch() says what is wrong with the network, and what to do', async () => {
  const fetch = httpFetch({ ...PATIENT, hint: 'check base_url' })
  await using server = await serve((request) => request.socket.destroy())
  await assert.rejects(fetch(server.url), {
    kind: 'unavailable',
    message: `Cannot reach ${server.url}: the connection was closed`,
    hint: 'check base_url',
  })
  await assert.rejects(fetch('http://nowhere.invalid/'), {
    kind: 'unavailable',
    message:
      /^Cannot reach http:\/\/nowhere\.invalid: (host not found|the host name could not be looked up)$/,
  })
  await assert.rejects(fetch(server.url.replace('http:', 'https:')), { kind: 'config' })
})

test('httpFetch() rejects a key that is not a valid header', async () => {
  await using server = await serve((_, response) => response.end())
  const headers = { authorization: 'Bearer one\ntwo' }
  await assert.rejects(httpFetch(PATIENT)(server.url, { headers }), {
    kind: 'config',
    message: `Cannot ask ${server.url}: Invalid character in header content ["authorization"]`,
  })
})

test('httpFetch() uses the proxy of the environment', async () => {
  await using proxy = await serve((request, response) => response.end(`proxied ${request.url}`))
  const program = `
    import { httpFetch, readBodyText } from ${JSON.stringify(import.meta.resolve('../../../src/core/provider/http-fetch.ts'))}
    const response = await httpFetch(${JSON.stringify(PATIENT)})('http://model.invalid/v1')
    console.log(await readBodyText(response.body))`
  const child = spawn(process.execPath, ['--use-env-proxy', '--input-type=module', '-e', program], {
    env: { ...process.env, HTTP_PROXY: proxy.url, NO_PROXY: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  assert.equal((await text(child.stdout)).trim(), 'proxied http://model.invalid/v1')
})

async function serve(listener: RequestListener, onConnection: () => void = () => undefined) {
  const server = createServer(listener)
  server.on('connection', onConnection)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
