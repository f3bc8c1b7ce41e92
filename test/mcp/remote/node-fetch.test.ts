import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { nodeFetch } from '../../../src/mcp/remote/node-fetch.ts'
import { listen } from '../../support/mcp/http/listener.ts'

const fetch = nodeFetch()

test('nodeFetch() sends a body with its headers, and returns status, headers and body', async () => {
  await using server = await listen(async (request, response) => {
    response.writeHead(418, 'Teapot', { 'x-a': ['1', '2'] })
    response.end(`${request.method} ${request.headers['x-key']} ${await text(request)}`)
  })
  const response = await fetch(server.origin, { method: 'POST', headers: { 'X-Key': 'v' }, body: 'hällo' })
  assert.deepEqual(
    [response.status, response.statusText, response.headers.get('x-a')],
    [418, 'Teapot', '1, 2'],
  )
  assert.equal(await response.text(), 'POST v hällo')
})

test('nodeFetch() returns the received part of a body that is cut', async () => {
  await using server = await listen((_, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  })
  assert.equal(await (await fetch(server.origin)).text(), 'half')
})

test('nodeFetch() says why a server cannot be reached', async () => {
  const server = await listen((_, response) => response.end())
  const { origin } = server
  await assert.rejects(fetch(origin.replace('http', 'https')), { kind: 'unavailable' })
  await server.stop()
  await assert.rejects(fetch(`${origin}/mcp?key=secret`), {
    kind: 'unavailable',
    message: `it cannot be reached at ${origin}: connection refused`,
  })
  await assert.rejects(fetch('http://nowhere.invalid/'), {
    kind: 'unavailable',
    message: /nowhere\.invalid: /,
  })
})

test('nodeFetch() stops with its signal', async () => {
  await using server = await listen(() => {})
  const stop = new AbortController()
  const asking = fetch(server.origin, { signal: stop.signal })
  setImmediate(() => stop.abort())
  await assert.rejects(asking, { kind: 'cancelled' })
})

test('nodeFetch() rejects an invalid status, and stops reading its answer', async () => {
  const { promise: cut, resolve } = Promise.withResolvers<void>()
  await using server = await listen((_, response) => {
    response.once('close', resolve)
    response.writeHead(999).write('never ending')
  })
  await assert.rejects(fetch(server.origin), {
    kind: 'failed',
    message: 'it answered HTTP 999, which is not a valid status',
  })
  await cut
})

test('nodeFetch() says in one line that a server does not speak TLS', async () => {
  await using server = await listen((_, response) => response.end('plain'))
  const origin = server.origin.replace('http:', 'https:')
  await assert.rejects(fetch(origin), {
    kind: 'unavailable',
    message: `it cannot be reached at ${origin}: the server does not speak TLS`,
    hint: 'its address may start with http://',
  })
})

test('nodeFetch() follows no redirect', async () => {
  await using server = await listen((_, response) => response.writeHead(302, { location: '/x' }).end())
  assert.equal((await fetch(server.origin)).status, 302)
})

test('nodeFetch() resends what a kept-alive connection did not accept, but no tool call', async () => {
  let requests = 0
  await using server = await listen((request, response) => {
    requests++
    if (requests % 2 === 0) request.socket.destroy()
    else response.end('ok')
  })
  for (const [method, outcome] of [
    ['tools/list', 'ok'],
    ['tools/call', 'it cannot be reached'],
  ] as const) {
    const ask = async () => {
      const response = await fetch(server.origin, { method: 'POST', body: JSON.stringify({ method }) })
      return await response.text()
    }
    requests = 0
    await ask()
    const answer = await ask().catch((reason: Error) => reason.message)
    assert.ok(answer.startsWith(outcome), answer)
    assert.equal(requests, method === 'tools/list' ? 3 : 2)
  }
})

test('nodeFetch() uses the proxy of the environment', async () => {
  await using proxy = await listen((request, response) => response.end(`proxied ${request.url}`))
  const env = { ...process.env, HTTP_PROXY: proxy.origin, NO_PROXY: '' }
  assert.equal(
    await fetchElsewhere('http://far.invalid/mcp', env, '--use-env-proxy'),
    'proxied http://far.invalid/mcp',
  )
  const dead = { ...env, HTTP_PROXY: 'http://127.0.0.1:9' }
  assert.equal(
    await fetchElsewhere('http://far.invalid/mcp', dead, '--use-env-proxy'),
    'it cannot be reached at http://far.invalid: the proxy 127.0.0.1:9: connection refused',
  )
})

test('nodeFetch() trusts the certificates of NODE_EXTRA_CA_CERTS', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'crab-tls-'))
  const [key, cert] = [join(folder.path, 'key.pem'), join(folder.path, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject]
  execFileSync('openssl', args, { stdio: 'ignore' })
  const tls = { key: readFileSync(key), cert: readFileSync(cert) }
  await using server = await listen((_, response) => response.end('trusted'), tls)
  const { NODE_EXTRA_CA_CERTS: _none, ...env } = process.env
  assert.equal(await fetchElsewhere(server.origin, { ...env, NODE_EXTRA_CA_CERTS: cert }), 'trusted')
  assert.match(await fetchElsewhere(server.origin, env), /^it cannot be reached at https:.*certificate/)
})

/** Returns what another process gets from a URL, or its error. */
async function fetchElsewhere(url: string, env: NodeJS.ProcessEnv, ...options: string[]): Promise<string> {
  const program = `
    import { nodeFetch } from ${JSON.stringify(import.meta.resolve('../../../src/mcp/remote/node-fetch.ts'))}
    const answer = nodeFetch()(${JSON.stringify(url)}).then((response) => response.text())
    console.log(await answer.catch((reason) => reason.message))`
  const args = [...options, '--input-type=module', '-e', program]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  return (await text(child.stdout)).trim()
}
