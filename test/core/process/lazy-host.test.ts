import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lazyProcessHost } from '../../../src/core/process/lazy-host.ts'
import { openProcessHost } from '../../../src/core/process/process-host.ts'
import type { Command } from '../../../src/core/process/types.ts'

const TRUE: Command = { argv: ['true'], cwd: '/', env: { PATH: process.env['PATH'] ?? '' } }

test('lazyProcessHost() opens its host for the first program, once', async () => {
  let opened = 0
  await using host = lazyProcessHost(async () => {
    opened++
    return openProcessHost({ pid: process.pid })
  })
  assert.equal(opened, 0)
  const started = await Promise.all([host.start(TRUE), host.start(TRUE)])
  assert.equal(opened, 1)
  assert.deepEqual(await Promise.all(started.map(({ exited }) => exited)), [
    { code: 0, signal: null },
    { code: 0, signal: null },
  ])
})

test('lazyProcessHost() that was left starts nothing, whenever its host is opened', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = lazyProcessHost(async () => {
    await gate.promise
    return openProcessHost({ pid: process.pid })
  })
  const early = slow.start(TRUE)
  slow.releaseAll()
  gate.resolve()
  await assert.rejects(early, { kind: 'unavailable' })
  await assert.rejects(slow.start(TRUE), { kind: 'unavailable' })
})

test('lazyProcessHost() that is disposed opens nothing', async () => {
  const host = lazyProcessHost(() => assert.fail('opened'))
  host.releaseAll()
  await host[Symbol.asyncDispose]()
})
