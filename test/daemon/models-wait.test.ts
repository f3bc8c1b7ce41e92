import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { CrabError } from '../../src/core/base/errors.ts'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { attach } from '../../src/daemon/attach.ts'
import { testCaller } from '../support/caller.ts'
import { temporaryHome } from '../support/temporary-home.ts'

test('an abort ends a request that waits for a server to list its models', async () => {
  await using home = await temporaryHome()
  await using server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await home.write('config.toml', `[llm]\nbase_url = "http://127.0.0.1:${port}/v1"\n`)
  await using node = await attach(testCaller(home.paths.home))
  const stop = new AbortController()
  const turn = Array.fromAsync(streamTurn(node.dispatch, { content: 'hi' }, stop.signal))
  const models = request(node.dispatch, 'listModels', {}, stop.signal)
  await once(server, 'request')
  stop.abort(new CrabError('timeout', 'too long'))
  await assert.rejects(turn, { kind: 'timeout' })
  await assert.rejects(models, { kind: 'timeout' })
})

test('an abort ends a request that joins another one waiting for such a server', async () => {
  await using home = await temporaryHome()
  await using server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await home.write('config.toml', `[llm]\nbase_url = "http://127.0.0.1:${port}/v1"\n`)
  await using node = await attach(testCaller(home.paths.home))
  const [first, second] = [new AbortController(), new AbortController()]
  const waiting = request(node.dispatch, 'listModels', {}, first.signal)
  await once(server, 'request')
  const turn = Array.fromAsync(streamTurn(node.dispatch, { content: 'hi' }, second.signal))
  const models = request(node.dispatch, 'listModels', {}, second.signal)
  setImmediate(() => second.abort(new CrabError('timeout', 'too long')))
  await assert.rejects(turn, { kind: 'timeout' })
  await assert.rejects(models, { kind: 'timeout' })
  first.abort()
  await assert.rejects(waiting, { kind: 'cancelled' })
})

test('a node that is disposed while it lists models closes without an error', async () => {
  await using home = await temporaryHome()
  const node = await attach(testCaller(home.paths.home))
  const left = Array.fromAsync(streamTurn(node.dispatch, { content: 'hi' }, AbortSignal.abort()))
  await assert.rejects(left, { kind: 'cancelled' })
  await node[Symbol.asyncDispose]()
})
