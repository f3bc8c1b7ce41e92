import assert from 'node:assert/strict'
import { mkdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../../src/commands/main.ts'
import { ownEnvFile } from '../../../../src/up/own-env.ts'
import { newStartRequest, setDesired } from '../../../../src/up/supervisor/desired-state.ts'
import { makeServiceHome, QUICK } from '../../../support/services.ts'
import { makeTestHost } from '../../../support/test-host.ts'

test('crabup NAME start says that a service is already running only for the process that ran before', async () => {
  await using at = await makeServiceHome()
  await install(at.paths.packages)
  await setDesired(at.folder, at.spec('other', 'exec sleep 1000'), newStartRequest('start')) // so that the supervisor stays
  const over = new AbortController()
  const supervising = at.supervise(over.signal, { pace: { ...QUICK, restartMs: 600_000 } })
  const start = () => crabup(at.paths.home, ['echo', 'start'])
  const first = await start()
  assert.match(first.stdout, /^echo is ready \(pid /)
  const { pid } = at.record('echo')!
  const again = await start()
  assert.match(again.stdout, new RegExp(`^echo is already running \\(pid ${pid}, `))
  assert.equal(again.stderr, '')
  process.kill(pid!, 'SIGKILL')
  await at.recorded('echo', ({ state }) => state === 'waiting')
  const after = await start()
  assert.match(after.stdout, /^echo is ready \(pid /)
  assert.equal(after.stderr, 'crabup: echo had crashed (SIGKILL); see why: crabup echo logs\n')
  await crabup(at.paths.home, ['echo', 'stop'])
  over.abort()
  await supervising
})

test('crabup NAME start says what a running service would pick up from a restart', async () => {
  await using at = await makeServiceHome()
  await install(at.paths.packages)
  const over = new AbortController()
  await setDesired(at.folder, at.spec('other', 'exec sleep 1000'), newStartRequest('start')) // so that the supervisor stays
  const supervising = at.supervise(over.signal, { pace: QUICK })
  const start = () => crabup(at.paths.home, ['echo', 'start'])
  await start()
  const { since = 0 } = at.record('echo')!
  await writeFile(at.paths.serviceEnv, "KEY='1'\n")
  await utimes(at.paths.serviceEnv, since / 1000 + 60, since / 1000 + 60)
  assert.equal((await start()).stderr, '') // the change does not affect this service
  await writeFile(at.paths.serviceEnv, "ECHO__KEY='1'\n")
  await start()
  const own = ownEnvFile(at.paths, 'echo')
  assert.match(await readFile(own, 'utf8'), /^KEY='1'$/m)
  await utimes(own, since / 1000 + 60, since / 1000 + 60)
  const changed = 'crabup: service.env has changed since: crabup echo restart applies it\n'
  assert.equal((await start()).stderr, changed)
  await rm(at.paths.serviceEnv)
  const other = await crabup(at.paths.home, ['echo', 'start'], '/usr/bin:/bin:/usr')
  assert.equal(other.stderr, 'crabup: its unit has changed: crabup echo restart applies it\n')
  await crabup(at.paths.home, ['echo', 'stop'])
  over.abort()
  await supervising
})

async function crabup(home: string, words: readonly string[], path = '/usr/bin:/bin') {
  await using box = await makeTestHost()
  const env = { CRABTALK_HOME: home, CRABTALK_SERVICE_MANAGER: 'supervisor', PATH: path }
  await main('crabup', words, { ...box.host, env })
  for (const output of [box.host.stdout, box.host.stderr]) await output.flush()
  return { stdout: box.stdout(), stderr: box.stderr() }
}

/** Writes a component that is a program, as `crabup pull` leaves it. */
async function install(packages: string): Promise<void> {
  const folder = join(packages, 'echo')
  await mkdir(join(folder, '1.0.0'), { recursive: true })
  await symlink('1.0.0', join(folder, 'current'))
  await writeFile(join(folder, '1.0.0', 'main.cjs'), COMPONENT, { mode: 0o755 })
  const record = {
    ...{ package: 'echo', version: '1.0.0', description: 'A component', script: 'main.cjs' },
    ...{ runsOnNode: false, installedAt: '2026-11-22T00:00:00.000Z', source: 'echo', origin: 'folder' },
  }
  await writeFile(join(folder, '1.0.0', 'crabup.json'), JSON.stringify(record))
}

/**
 * A component with only what the component contract requires. /bin/sh starts it, because the path of Node may
 * contain spaces, and then Node reads the rest.
 */
const COMPONENT = `#!/bin/sh
':' //; exec '${process.execPath}' "$0"
const { createServer } = require('node:http')
const { mkdirSync, writeFileSync } = require('node:fs')
const run = process.env.CRABTALK_HOME + '/run'
const health = JSON.stringify({ name: 'echo', version: '1.0.0', pid: process.pid })
const server = createServer((_, response) => response.end(health)).listen(0, '127.0.0.1', () => {
  mkdirSync(run, { recursive: true })
  writeFileSync(run + '/echo.port', String(server.address().port))
})
`
