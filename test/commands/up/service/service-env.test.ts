import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../../src/commands/main.ts'
import { makeTestHost } from '../../../support/test-host.ts'

/** Runs a command of crabup for a home with that service.env, and returns its output. */
async function crabup(words: readonly string[], text: string | ((home: string) => string)) {
  await using box = await makeTestHost()
  const home = join(box.folder, 'home')
  await mkdir(home)
  const written = typeof text === 'string' ? text : text(home)
  await writeFile(join(home, 'service.env'), written, { mode: 0o600 })
  const env = { CRABTALK_HOME: home, CRABTALK_SERVICE_MANAGER: 'supervisor', PATH: '/usr/bin:/bin' }
  const code = await main('crabup', words, { ...box.host, env })
  for (const output of [box.host.stdout, box.host.stderr]) await output.flush()
  return { code, stdout: box.stdout(), stderr: box.stderr() }
}

test('crabup NAME start reports the lines of service.env that are not read, with the file, and continues', async () => {
  const { code, stderr, stdout } = await crabup(['cron', 'start', '--dry-run'], '# keys\nsk-123\nA=x#y\n')
  assert.equal(code, 0)
  assert.match(
    stderr,
    /^crabup: service\.env:2: is not KEY=VALUE and is ignored .*\ncrabup: service\.env:3: has a value .*single quotes.*\n$/,
  )
  assert.doesNotMatch(stderr + stdout, /sk-123|x#y/)
})

test('crabup NAME start says that a PATH in service.env is the one of the services', async () => {
  const { stderr, stdout } = await crabup(['cron', 'start', '--dry-run'], "A=1\nPATH='/opt/mine:/bin'\n")
  assert.equal(stderr, 'crabup: service.env:2: services have this PATH instead of that of the shell\n')
  assert.match(stdout, /"PATH": "\/opt\/mine:\/bin"/)
  const unread = await crabup(['cron', 'start', '--dry-run'], "PATH='/opt/mine:$PATH'\n")
  assert.match(unread.stderr, /^crabup: service\.env:1: PATH contains a \$, /)
  const other = await crabup(['cron', 'start', '--dry-run'], 'Path=/opt/mine\n')
  assert.doesNotMatch(other.stdout, /"PATH": "\/opt\/mine/, 'of Windows only')
})

test('crabup NAME start rejects a service.env that would give the service another home', async () => {
  const { code, stderr } = await crabup(['cron', 'start'], 'CRABTALK_HOME=/tmp/other\n')
  assert.equal(code, 78)
  assert.match(stderr, /error\[config\]: service\.env:1: CRABTALK_HOME would move services to another home/)
})

test('crabup NAME start accepts a service.env that names its own home', async () => {
  const { code, stderr } = await crabup(['cron', 'start', '--dry-run'], (home) => `CRABTALK_HOME=${home}\n`)
  assert.deepEqual([code, stderr], [0, ''])
})

test('crabup doctor reports the same lines', async () => {
  const { stdout } = await crabup(['doctor'], 'rubbish\nPATH=/bin\nCRABTALK_HOME=/tmp/other\n')
  assert.match(
    stdout,
    /service\.env:1: is not KEY=VALUE[\s\S]*service\.env:2: services have[\s\S]*service\.env:3: /,
  )
})
