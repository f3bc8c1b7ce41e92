import assert from 'node:assert/strict'
import { test } from 'node:test'
import { main } from '../../../../src/commands/main.ts'
import { temporaryHome } from '../../../support/temporary-home.ts'
import { makeTestHost } from '../../../support/test-host.ts'

test('crabup daemon start rejects TCP without a token unless service.env allows it too, and then warns', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '[daemon]\ntcp_port = 0\ntcp_token = false\n')
  const refused = await start(home.paths.home)
  assert.equal(refused.code, 78)
  assert.match(
    refused.stderr,
    /error\[config\]: Cannot listen on TCP: .*\nhint: .*in service\.env\) if that is what you want/,
  )
  await home.write('service.env', 'CRABTALK_ALLOW_TCP_WITHOUT_TOKEN=1\n')
  const warned = await start(home.paths.home)
  assert.equal(warned.code, 0)
  assert.match(warned.stderr, /^crabup: warning: tcp_token = false: every program and every user/)
  await home.write('config.toml', '[daemon]\ntcp_port = 0\n')
  assert.doesNotMatch((await start(home.paths.home)).stderr, /tcp_token/)
})

async function start(home: string) {
  await using box = await makeTestHost()
  const env = { CRABTALK_HOME: home, CRABTALK_SERVICE_MANAGER: 'supervisor', PATH: '/usr/bin:/bin' }
  const code = await main('crabup', ['daemon', 'start', '--dry-run'], { ...box.host, env })
  for (const output of [box.host.stdout, box.host.stderr]) await output.flush()
  return { code, stderr: box.stderr() }
}
