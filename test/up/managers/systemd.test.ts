import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { SystemdManager } from '../../../src/up/managers/systemd.ts'
import { findUnitFolder, systemdEnv } from '../../../src/up/managers/systemd-env.ts'
import type { UpHost } from '../../../src/up/types.ts'
import { type ManagerHost, makeManagerHost } from './manager-host.ts'

const never = new AbortController().signal

/** The output of `systemctl show` about a running unit. */
const RUNNING = `LoadState=loaded
UnitFileState=enabled
ActiveState=active
SubState=running
MainPID=17
NRestarts=2
NeedDaemonReload=no
ExecMainStartTimestamp=Sun 2026-11-22 05:56:32 UTC
ExecMainCode=0
ExecMainStatus=0
`

function createManager(fixture: ManagerHost, note?: string): SystemdManager {
  const lingerFolder = join(fixture.state, 'linger')
  return new SystemdManager(fixture.host, { unitFolder: join(fixture.home, 'units'), lingerFolder, note })
}

/** Returns the systemctl calls without the environment they ran in. */
async function verbs(fixture: ManagerHost): Promise<string[]> {
  return (await fixture.calls()).map((line) =>
    line.replace(/^(system|login)ctl (--user |--no-ask-password )?/, '').replace(/ \[.*/, ''),
  )
}

test('SystemdManager reloads once for a new unit, and not for an unchanged one', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await fixture.set('show.out', RUNNING)
  const show = /^show --property=LoadState,\S+ ai\.crabtalk\.daemon\.service$/
  await manager.start(fixture.spec, never)
  const first = await verbs(fixture)
  assert.deepEqual(
    first.map((line) => (show.test(line) ? 'show' : line)),
    ['show', 'daemon-reload', 'show', 'enable-linger'],
  )
  await manager.start(fixture.spec, never)
  const second = await verbs(fixture)
  assert.deepEqual(
    second.map((line) => (show.test(line) ? 'show' : line)),
    ['show'],
  )
})

test('SystemdManager.status() reads the output of systemctl show, in UTC', async () => {
  await using fixture = await makeManagerHost()
  await fixture.set(
    'show.out',
    `${RUNNING}\n${RUNNING.replace('active', 'failed').replace('Code=0', 'Code=3').replace('Status=0', 'Status=6')}`,
  )
  const [first, second] = await createManager(fixture).status(['ai.crabtalk.a', 'ai.crabtalk.b'], never)
  assert.deepEqual(first, {
    label: 'ai.crabtalk.a',
    isInstalled: true,
    isEnabled: true,
    state: 'running',
    pid: 17,
    since: Date.UTC(2026, 10, 22, 5, 56, 32),
    restarts: 2,
  })
  assert.deepEqual([second!.state, second!.lastExit], ['failed', { code: null, signal: 'SIGABRT' }])
})

test('SystemdManager.status() of no labels does not call systemctl', async () => {
  await using fixture = await makeManagerHost()
  assert.deepEqual(await createManager(fixture).status([], never), [])
  assert.deepEqual(await fixture.calls(), [])
})

const REFUSALS: Readonly<Record<string, { says: string; kind: string }>> = {
  'no bus': { says: 'Failed to connect to bus: No medium found', kind: 'unavailable' },
  'a request for a password': { says: 'Interactive authentication required.', kind: 'credentials' },
  'a mask': { says: 'Failed to start x.service: Unit x.service is masked.', kind: 'failed' },
}
for (const [what, { says, kind }] of Object.entries(REFUSALS)) {
  test(`SystemdManager fails as ${kind} on ${what}, and reports the message of systemctl`, async () => {
    await using fixture = await makeManagerHost()
    await fixture.set('stop.code', '1')
    await fixture.set('stop.err', `${says}\nSee the manual.\n`)
    await fixture.set('show.out', RUNNING)
    await assert.rejects(
      createManager(fixture).stop(fixture.spec, never),
      (reason: Error & { kind: string }) => {
        return reason.kind === kind && reason.message.endsWith(`: ${says}`)
      },
    )
  })
}

test('SystemdManager lets services outlive the logout, and reverts that with the last unit', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture, 'systemd was asked for')
  await fixture.set('show.out', RUNNING)
  await manager.start(fixture.spec, never)
  assert.equal(manager.note, 'systemd was asked for')
  const other = { ...fixture.spec, label: 'ai.crabtalk.cron' }
  await manager.start(other, never)
  await manager.remove(other.label, never)
  assert.ok((await verbs(fixture)).every((line) => line !== 'disable-linger'))
  await manager.remove(fixture.spec.label, never)
  assert.equal((await verbs(fixture)).filter((line) => line === 'disable-linger').length, 1)
})

test('SystemdManager keeps lingering that was enabled before', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await fixture.host.run(['loginctl', '--no-ask-password', 'enable-linger'], {}, never)
  await fixture.calls()
  await fixture.set('show.out', RUNNING)
  await manager.start(fixture.spec, never)
  await manager.remove(fixture.spec.label, never)
  assert.ok((await fixture.calls()).every((line) => !line.includes('linger')))
})

test('SystemdManager.note says how services outlive the logout when we may not enable that', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  await fixture.set('linger.refused')
  await fixture.set('show.out', RUNNING)
  assert.equal(manager.note, undefined)
  await manager.start(fixture.spec, never)
  assert.equal(manager.note, 'it ends at your last logout unless you run loginctl enable-linger')
})

test('SystemdManager.commands() returns the commands that start and stop run', async () => {
  await using fixture = await makeManagerHost()
  const lines = () =>
    createManager(fixture)
      .commands('start', fixture.spec)
      .map((argv) => argv.join(' '))
  const always = [
    'systemctl --user daemon-reload',
    'systemctl --user enable ai.crabtalk.daemon.service',
    'systemctl --user start ai.crabtalk.daemon.service',
  ]
  assert.deepEqual(lines(), [...always, 'loginctl --no-ask-password enable-linger'])
  await fixture.host.run(['loginctl', '--no-ask-password', 'enable-linger'], {}, never)
  assert.deepEqual(lines(), always)
})

test('SystemdManager.labels() returns the labels of our units', async () => {
  await using fixture = await makeManagerHost()
  const manager = createManager(fixture)
  assert.deepEqual(await manager.labels(never), [])
  await mkdir(join(fixture.home, 'units'))
  for (const name of [
    'ai.crabtalk.b.service',
    'ai.crabtalk.a.service',
    'other.service',
    'ai.crabtalk.a.service.edited',
  ]) {
    await writeFile(join(fixture.home, 'units', name), '')
  }
  assert.deepEqual(await manager.labels(never), ['ai.crabtalk.a', 'ai.crabtalk.b'])
})

test("findUnitFolder() follows the manager's environment, not the shell's", async () => {
  await using fixture = await makeManagerHost({ XDG_CONFIG_HOME: '/elsewhere' })
  await fixture.set('show.out', `/run/x /elsewhere/systemd/user ${fixture.home}/.config/systemd/user\n`)
  assert.equal(await findUnitFolder(fixture.host, never), '/elsewhere/systemd/user')
  await fixture.set('show.out', `/run/x ${fixture.home}/.config/systemd/user\n`)
  assert.equal(await findUnitFolder(fixture.host, never), join(fixture.home, '.config/systemd/user'))
  await fixture.set('show.out', '/run/x /home/another/.config/systemd/user\n')
  assert.equal(await findUnitFolder(fixture.host, never), undefined)
})

test('findUnitFolder() is undefined when there is no answer or no systemctl', async () => {
  await using fixture = await makeManagerHost()
  await fixture.set('show.code', '1')
  assert.equal(await findUnitFolder(fixture.host, never), undefined)
  const bare: UpHost = {
    ...fixture.host,
    run: (argv, options, signal) => fixture.host.run(['no-such-program', ...argv], options, signal),
  }
  assert.equal(await findUnitFolder(bare, never), undefined)
})

test('systemdEnv() finds the bus of a session when the shell does not name it', async () => {
  await using fixture = await makeManagerHost()
  const runtime = join(fixture.home, 'runtime')
  await mkdir(runtime)
  const host = { uid: 501, env: { XDG_RUNTIME_DIR: runtime } }
  assert.equal(systemdEnv(host)['DBUS_SESSION_BUS_ADDRESS'], undefined)
  await writeFile(join(runtime, 'bus'), '')
  assert.equal(systemdEnv(host)['DBUS_SESSION_BUS_ADDRESS'], `unix:path=${runtime}/bus`)
  const named = { ...host, env: { ...host.env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/mine' } }
  assert.equal(systemdEnv(named)['DBUS_SESSION_BUS_ADDRESS'], 'unix:path=/mine')
  assert.equal(
    existsSync('/run/user/501'),
    systemdEnv({ uid: 501, env: {} })['XDG_RUNTIME_DIR'] !== undefined,
  )
})
