import assert from 'node:assert/strict'
import { test } from 'node:test'
import { main } from '../../../../src/commands/main.ts'
import { refuseSelfRestart } from '../../../../src/commands/up/service/restart.ts'
import type { ServiceStatus } from '../../../../src/up/types.ts'
import { makeTestHost } from '../../../support/test-host.ts'
import { makeManagerHost } from '../../../up/managers/manager-host.ts'

test('crabup NAME restart refuses to end its own service when nothing would start it again', async () => {
  await using fixture = await makeManagerHost()
  await using box = await makeTestHost({ homeDir: fixture.home })
  await fixture.set('domains', 'gui\n')
  await fixture.set(`gui-${box.host.uid}-ai.crabtalk.daemon`, `\tstate = running\n\tpid = ${process.ppid}\n`)
  const env = { ...fixture.host.env, CRABTALK_SERVICE_MANAGER: 'launchd' }
  const code = await main('crabup', ['daemon', 'restart', '--now'], { ...box.host, env })
  await box.host.stderr.flush()
  assert.equal(code, 1)
  assert.match(box.stderr(), /Cannot restart daemon: this command runs inside it and would end with it/)
  assert.deepEqual(
    (await fixture.calls()).filter((line) => /bootout|bootstrap/.test(line)),
    [],
  )
})

test('crabup daemon restart from within a turn is refused immediately, because it would wait for itself', async () => {
  const outside = { manager: { kind: 'supervisor' }, host: { pid: process.pid }, service: { name: 'daemon' } }
  const at = outside as Parameters<typeof refuseSelfRestart>[0]
  const status: ServiceStatus = {
    label: '',
    isInstalled: true,
    isEnabled: true,
    state: 'running',
    pid: process.ppid,
  }
  await assert.rejects(refuseSelfRestart(at, status, { now: false }), {
    kind: 'conflict',
    message: /^Cannot restart daemon: this command runs in one of its turns/,
    hint: /cancel the turn with --now$/,
  })
  await refuseSelfRestart(at, status, { now: true })
  await refuseSelfRestart(at, { ...status, pid: 2 ** 22 + 1 }, { now: false })
})
