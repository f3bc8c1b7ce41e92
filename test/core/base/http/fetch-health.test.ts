import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { fetchHealth } from '../../../../src/core/base/http/fetch-health.ts'
import { listen } from '../../../support/mcp/http/listener.ts'

const NEVER = new AbortController().signal

test('fetchHealth() returns the object of /health, and an empty one for a server without it', async () => {
  await using server = await listen((request, response) => {
    assert.equal(request.url, '/health')
    response.end('{"name":"clock","pid":1}')
  })
  assert.deepEqual(await fetchHealth(server.port, NEVER), { name: 'clock', pid: 1 })
  await using other = await listen((_, response) => response.writeHead(404).end('{"name":"clock"}'))
  assert.deepEqual(await fetchHealth(other.port, NEVER), {})
  await using long = await listen((_, response) => response.end(`{"name":"${'x'.repeat(70_000)}"}`))
  assert.deepEqual(await fetchHealth(long.port, NEVER), {})
})

test('fetchHealth() distinguishes a closed port from one that is silent or speaks something else', async () => {
  const server = await listen(() => {})
  assert.equal(await fetchHealth(server.port, AbortSignal.timeout(100)), 'silent')
  await server.stop()
  assert.equal(await fetchHealth(server.port, NEVER), 'refused')
  const greeter = createServer((socket) => socket.end('220 smtp\r\n'))
  await once(greeter.listen(0, '127.0.0.1'), 'listening')
  assert.deepEqual(await fetchHealth((greeter.address() as AddressInfo).port, NEVER), {})
  greeter.close()
})
