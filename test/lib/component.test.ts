import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { serveComponent } from '../../src/lib/component.ts'
import { HTTP_CLIENTS } from '../support/component/http-clients.ts'
import { startProgram } from '../support/component/programs.ts'
import { madeHome } from '../support/component/served-component.ts'
import { until } from '../support/until.ts'

const GLASS = join(import.meta.dirname, '../support/component/failing-program.ts')

test('serveComponent() serves in the given home until its signal is aborted', async () => {
  await using home = await madeHome()
  const over = new AbortController()
  const serving = Promise.withResolvers<number>()
  const options = { home: home.paths.home, onServing: serving.resolve }
  const dice = { name: 'dice', version: '1', description: 'Throws dice', tools: [] }
  const ended = serveComponent(dice, options, over.signal)
  const port = await serving.promise
  assert.equal(readFileSync(join(home.paths.run, 'dice.port'), 'utf8'), `${port}\n`)
  await assert.rejects(serveComponent(dice, options), { kind: 'conflict' })
  over.abort()
  await ended
  assert.deepEqual(readdirSync(home.paths.run), [])
  assert.deepEqual(
    readFileSync(join(home.paths.logs, 'dice.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).level),
    ['info', 'error', 'info'],
  )
})

test('runComponent() leaves no file when its program crashes', async () => {
  await using home = await madeHome()
  const { paths } = home
  await using glass = startProgram(GLASS, { paths, name: 'glass' })
  const port = await glass.port()
  const key = readFileSync(join(paths.run, 'glass.key'), 'utf8').trim()
  await using host = await HTTP_CLIENTS['SDK 2.x']!({ url: new URL(`http://127.0.0.1:${port}/mcp`), key })
  await host.call('break').catch(() => undefined) // the crash may be faster than the answer
  assert.equal(await glass.ended, 1)
  assert.match(glass.said(), /Error: broken/)
  assert.equal(existsSync(join(paths.run, 'glass.port')), false)
})

test('runComponent() ends although a call does not', { timeout: 30_000 }, async () => {
  await using home = await madeHome()
  const { paths } = home
  await using glass = startProgram(GLASS, { paths, name: 'glass' })
  const port = await glass.port()
  const key = readFileSync(join(paths.run, 'glass.key'), 'utf8').trim()
  await using host = await HTTP_CLIENTS['SDK 2.x']!({ url: new URL(`http://127.0.0.1:${port}/mcp`), key })
  const call = host.call('hang').catch(() => undefined) // never answered
  await until('it hangs', () => glass.said().includes('hanging'))
  glass.child.kill('SIGTERM')
  assert.equal(await glass.ended, 0)
  await call
})
