import assert from 'node:assert/strict'
import { test } from 'node:test'
import { main } from '../../../src/commands/main.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { makeTestHost } from '../../support/test-host.ts'

test('crabup uninstall --dry-run says so where there is nothing to remove', async () => {
  await using home = await temporaryHome()
  const nothing = `would remove nothing: there are no services, components and data in ${home.paths.home}\n`
  for (const more of [[], ['--purge']]) assert.equal(await dryRun(home.paths.home, more), nothing)
  await home.write('history', '{"text":"hello"}\n')
  assert.match(await dryRun(home.paths.home, []), /^would keep your data in /)
  assert.match(await dryRun(home.paths.home, ['--purge']), /^would remove history .*\n$/)
})

async function dryRun(home: string, more: readonly string[]): Promise<string> {
  await using box = await makeTestHost()
  const env = { CRABTALK_HOME: home, CRABTALK_SERVICE_MANAGER: 'supervisor', PATH: '/usr/bin:/bin' }
  await main('crabup', ['uninstall', '--dry-run', ...more], { ...box.host, env })
  await box.host.stdout.flush()
  return box.stdout()
}
