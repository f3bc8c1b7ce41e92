import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readPortFiles } from '../../../src/daemon/components/port-files.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('readPortFiles() returns a local server for each port file, ordered by name', async () => {
  await using home = await temporaryHome()
  await home.write('run/search.port', '8080')
  await home.write('run/clock.port', '41000\n')
  await home.write('run/crabtalk.port', '1234\n')
  await home.write('run/.hidden.port', '1234\n')
  await home.write('run/clock.port.01J.tmp', '1')
  const found = readPortFiles(home.paths.run)
  assert.deepEqual(
    found.map(({ name, file, server }) => ({ name, file, server })),
    [entry('clock', 41_000), entry('search', 8080)],
  )
})

test('the key beside a port file becomes the bearer token', async () => {
  await using home = await temporaryHome()
  await home.write('run/clock.port', '41000\n')
  await home.write('run/clock.key', 's3cr3t\n')
  const [clock] = readPortFiles(home.paths.run)
  assert.ok(clock && 'entry' in clock.server)
  assert.equal(clock.server.entry.auth, 's3cr3t')
})

for (const [what, text] of [
  ['text', 'http://127.0.0.1:80'],
  ['nothing', ''],
  ['no port', '0'],
  ['a port that is too high', '65536\n'],
  ['two lines', '80\n81\n'],
  ['a negative number', '-80'],
  ['a number and more', '80x'],
  ['too much', '1'.repeat(10_000)],
] as const) {
  test(`a port file that holds ${what} is reported as invalid`, async () => {
    await using home = await temporaryHome()
    await home.write('run/clock.port', text)
    const [clock] = readPortFiles(home.paths.run)
    assert.deepEqual(clock?.server, { problem: 'it does not hold a port number' })
  })
}

test('invalid names, duplicate names and entries that are not files are reported separately', async () => {
  await using home = await temporaryHome()
  for (const name of ['a-b', 'a_b', 'Big', 'x\ny', 'good']) await home.write(`run/${name}.port`, '80\n')
  await mkdir(join(home.paths.run, 'folder.port'))
  execFileSync('mkfifo', [join(home.paths.run, 'pipe.port')])
  const found = readPortFiles(home.paths.run)
  assert.deepEqual(
    found.map(({ name, server }) => [name, 'entry' in server || server.problem.split(',')[0]]),
    [
      ['Big', '"name" must be 1 to 32 of a-z'],
      ['a-b', true],
      ['a_b', 'its name is taken by a-b.port'],
      ['folder', 'it does not hold a port number'],
      ['good', true],
      ['pipe', 'it does not hold a port number'],
      ['x?y', '"name" must be 1 to 32 of a-z'],
    ],
  )
})

test('a missing folder has no components', async () => {
  await using home = await temporaryHome()
  assert.deepEqual(readPortFiles(home.paths.run), [])
})

function entry(name: string, port: number) {
  const file = `run/${name}.port`
  const url = `http://127.0.0.1:${port}/mcp`
  return {
    name,
    file,
    server: { entry: { name, url, startup_timeout_ms: 3000, origin: { port_file: file } } },
  }
}
