import assert from 'node:assert/strict'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../src/commands/main.ts'
import { startTestDaemon } from '../../support/daemon.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { makeTestHost } from '../../support/test-host.ts'

test('crabup uninstall --dry-run says when there is nothing to remove', async () => {
  await using home = await temporaryHome()
  const nothing = `would remove nothing: there are no services, components or data in ${home.paths.home}\n`
  for (const more of [[], ['--purge']]) assert.equal(await dryRun(home.paths.home, more), nothing)
  await home.write('history', '{"text":"hello"}\n')
  assert.match(await dryRun(home.paths.home, []), /^would keep your data in /)
  assert.match(await dryRun(home.paths.home, ['--purge']), /^would remove history .*\n$/)
})

test('crabup uninstall asks before it removes components, and without a terminal requires --yes', async () => {
  await using home = await temporaryHome()
  await home.write('packages/clock/current/package.json', '{}')
  const refused = await uninstall(home.paths.home, [])
  assert.deepEqual([refused.code, refused.stdout], [4, ''])
  assert.match(
    refused.stderr,
    /Cannot remove the components clock: there is no terminal to ask for confirmation\nhint: crabup uninstall --yes /,
  )
  await access(join(home.paths.packages, 'clock'))
  const removed = await uninstall(home.paths.home, ['--yes'])
  assert.equal(removed.code, 0, removed.stderr)
  assert.match(removed.stdout, /^removed clock$/m)
  await assert.rejects(access(join(home.paths.packages, 'clock')), { code: 'ENOENT' })
  assert.equal((await uninstall(home.paths.home, [])).code, 0)
})

test('crabup uninstall names a daemon that was started on demand in its plan and in its question', async () => {
  await using home = await temporaryHome()
  await using _daemon = await startTestDaemon(home, { args: ['--idle-exit', '10m'] })
  for (const more of [[], ['--purge']])
    assert.match(await dryRun(home.paths.home, more), /^would end the on-demand daemon$/m)
  const refused = await uninstall(home.paths.home, [])
  assert.match(refused.stderr, /Cannot end the on-demand daemon: there is no terminal/)
})

async function uninstall(home: string, more: readonly string[]) {
  await using box = await makeTestHost()
  const env = { CRABTALK_HOME: home, CRABTALK_SERVICE_MANAGER: 'supervisor', PATH: '/usr/bin:/bin' }
  const code = await main('crabup', ['uninstall', ...more], { ...box.host, env })
  return { code, stdout: box.stdout(), stderr: box.stderr() }
}

async function dryRun(home: string, more: readonly string[]): Promise<string> {
  await using box = await makeTestHost()
  const env = { CRABTALK_HOME: home, CRABTALK_SERVICE_MANAGER: 'supervisor', PATH: '/usr/bin:/bin' }
  await main('crabup', ['uninstall', '--dry-run', ...more], { ...box.host, env })
  await box.host.stdout.flush()
  return box.stdout()
}
