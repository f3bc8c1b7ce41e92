import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { SystemdManager } from '../../../src/up/managers/systemd.ts'
import { findUnitFolder, systemdEnv } from '../../../src/up/managers/systemd-env.ts'
import type { UpHost } from '../../../src/up/types.ts'
import { makeStage, type Stage } from './stage.ts'

const never = new AbortController().signal

/** What `systemctl show` says of a unit that runs. */
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

function managerOf(stage: Stage, note?: string): SystemdManager {
  const lingerFolder = join(stage.state, 'linger')
  return new SystemdManager(stage.host, { unitFolder: join(stage.home, 'units'), lingerFolder, note })
}

/** What systemctl was asked, without the environment it was asked in. */
async function verbs(stage: Stage): Promise<string[]> {
  return (await stage.calls()).map((line) =>
    line.replace(/^(system|login)ctl (--user |--no-ask-password )?/, '').replace(/ \[.*/, ''),
  )
}

test('SystemdManager reloads once for a unit that is new, and not for one that is the same', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await stage.set('show.out', RUNNING)
  const show = /^show --property=LoadState,\S+ ai\.crabtalk\.daemon\.service$/
  await manager.start(stage.spec, never)
  const first = await verbs(stage)
  assert.deepEqual(
    first.map((line) => (show.test(line) ? 'show' : line)),
    ['show', 'daemon-reload', 'show', 'enable-linger'],
  )
  await manager.start(stage.spec, never)
  const second = await verbs(stage)
  assert.deepEqual(
    second.map((line) => (show.test(line) ? 'show' : line)),
    ['show'],
  )
})

test('SystemdManager.status() reads what systemctl shows, in UTC', async () => {
  await using stage = await makeStage()
  await stage.set(
    'show.out',
    `${RUNNING}\n${RUNNING.replace('active', 'failed').replace('Code=0', 'Code=3').replace('Status=0', 'Status=6')}`,
  )
  const [first, second] = await managerOf(stage).status(['ai.crabtalk.a', 'ai.crabtalk.b'], never)
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

test('SystemdManager.status() of nothing asks nobody', async () => {
  await using stage = await makeStage()
  assert.deepEqual(await managerOf(stage).status([], never), [])
  assert.deepEqual(await stage.calls(), [])
})

const REFUSALS: Readonly<Record<string, { says: string; kind: string }>> = {
  'no bus': { says: 'Failed to connect to bus: No medium found', kind: 'unavailable' },
  'a request for a password': { says: 'Interactive authentication required.', kind: 'credentials' },
  'a mask': { says: 'Failed to start x.service: Unit x.service is masked.', kind: 'failed' },
}
for (const [what, { says, kind }] of Object.entries(REFUSALS)) {
  test(`SystemdManager fails as ${kind} on ${what}, and says what systemctl said`, async () => {
    await using stage = await makeStage()
    await stage.set('stop.code', '1')
    await stage.set('stop.err', `${says}\nSee the manual.\n`)
    await stage.set('show.out', RUNNING)
    await assert.rejects(managerOf(stage).stop(stage.spec, never), (reason: Error & { kind: string }) => {
      return reason.kind === kind && reason.message.endsWith(`: ${says}`)
    })
  })
}

test('SystemdManager has the service outlive the logout, and takes that back with the last unit', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage, 'systemd was asked for')
  await stage.set('show.out', RUNNING)
  await manager.start(stage.spec, never)
  assert.equal(manager.note, 'systemd was asked for')
  const other = { ...stage.spec, label: 'ai.crabtalk.cron' }
  await manager.start(other, never)
  await manager.remove(other.label, never)
  assert.ok((await verbs(stage)).every((line) => line !== 'disable-linger'))
  await manager.remove(stage.spec.label, never)
  assert.equal((await verbs(stage)).filter((line) => line === 'disable-linger').length, 1)
})

test('SystemdManager leaves alone who lingered before', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await stage.host.run(['loginctl', '--no-ask-password', 'enable-linger'], {}, never)
  await stage.calls()
  await stage.set('show.out', RUNNING)
  await manager.start(stage.spec, never)
  await manager.remove(stage.spec.label, never)
  assert.ok((await stage.calls()).every((line) => !line.includes('linger')))
})

test('SystemdManager.note says how the service outlives the logout where we may not see to it', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  await stage.set('linger.refused')
  await stage.set('show.out', RUNNING)
  assert.equal(manager.note, undefined)
  await manager.start(stage.spec, never)
  assert.equal(manager.note, 'it ends at your last logout unless you run loginctl enable-linger')
})

test('SystemdManager.commands() are what the verbs run', async () => {
  await using stage = await makeStage()
  const lines = () =>
    managerOf(stage)
      .commands('start', stage.spec)
      .map((argv) => argv.join(' '))
  const always = [
    'systemctl --user daemon-reload',
    'systemctl --user enable ai.crabtalk.daemon.service',
    'systemctl --user start ai.crabtalk.daemon.service',
  ]
  assert.deepEqual(lines(), [...always, 'loginctl --no-ask-password enable-linger'])
  await stage.host.run(['loginctl', '--no-ask-password', 'enable-linger'], {}, never)
  assert.deepEqual(lines(), always)
})

test('SystemdManager.labels() are those of our units', async () => {
  await using stage = await makeStage()
  const manager = managerOf(stage)
  assert.deepEqual(await manager.labels(never), [])
  await mkdir(join(stage.home, 'units'))
  for (const name of [
    'ai.crabtalk.b.service',
    'ai.crabtalk.a.service',
    'other.service',
    'ai.crabtalk.a.service.edited',
  ]) {
    await writeFile(join(stage.home, 'units', name), '')
  }
  assert.deepEqual(await manager.labels(never), ['ai.crabtalk.a', 'ai.crabtalk.b'])
})

test('findUnitFolder() goes by what the manager reads, not by what the shell calls its configuration', async () => {
  await using stage = await makeStage({ XDG_CONFIG_HOME: '/elsewhere' })
  await stage.set('show.out', `/run/x /elsewhere/systemd/user ${stage.home}/.config/systemd/user\n`)
  assert.equal(await findUnitFolder(stage.host, never), '/elsewhere/systemd/user')
  await stage.set('show.out', `/run/x ${stage.home}/.config/systemd/user\n`)
  assert.equal(await findUnitFolder(stage.host, never), join(stage.home, '.config/systemd/user'))
  await stage.set('show.out', '/run/x /home/another/.config/systemd/user\n')
  assert.equal(await findUnitFolder(stage.host, never), undefined)
})

test('findUnitFolder() is undefined where no answer, or there is no systemctl', async () => {
  await using stage = await makeStage()
  await stage.set('show.code', '1')
  assert.equal(await findUnitFolder(stage.host, never), undefined)
  const bare: UpHost = {
    ...stage.host,
    run: (argv, options, signal) => stage.host.run(['no-such-program', ...argv], options, signal),
  }
  assert.equal(await findUnitFolder(bare, never), undefined)
})

test('systemdEnv() finds the bus of a session that the shell does not name', async () => {
  await using stage = await makeStage()
  const runtime = join(stage.home, 'runtime')
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
