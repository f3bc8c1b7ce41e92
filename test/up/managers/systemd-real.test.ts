import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { sendSignal } from '../../../src/core/process/signals.ts'
import { SystemdManager } from '../../../src/up/managers/systemd.ts'
import { findUnitFolder } from '../../../src/up/managers/systemd-env.ts'
import type { ServiceSpec, ServiceStatus } from '../../../src/up/types.ts'
import { editedUnitPath } from '../../../src/up/units/unit-change.ts'
import { canRunSystemd, type SystemdUser, startSystemdUser } from '../../support/systemd-user.ts'
import { until } from '../../support/until.ts'
import { type ManagerHost, makeManagerHost, makeServiceSpec } from './manager-host.ts'

// Tests SystemdManager against a systemd that really runs services, where one can be started.

const never = new AbortController().signal
if (canRunSystemd()) {
  let user: SystemdUser
  let fixture: ManagerHost
  let manager: SystemdManager
  before(async () => {
    user = await startSystemdUser()
    const fakes = join(import.meta.dirname, 'fakes-of-login')
    fixture = await makeManagerHost({ ...user.env, PATH: [fakes, user.env['PATH']].join(delimiter) })
    manager = new SystemdManager(fixture.host, {
      unitFolder: (await findUnitFolder(fixture.host, never))!,
      lingerFolder: join(fixture.state, 'linger'),
    })
  })
  after(async () => {
    await user[Symbol.asyncDispose]()
    await fixture[Symbol.asyncDispose]()
  })

  test('findUnitFolder() is where the running manager reads units', async () => {
    assert.equal(await findUnitFolder(fixture.host, never), user.unitFolder)
  })

  test('start() writes, enables and runs a service, and is idempotent', async () => {
    const spec = service('ai.crabtalk.started')
    assert.deepEqual(await readStatus(spec), {
      label: spec.label,
      isInstalled: false,
      isEnabled: false,
      state: 'stopped',
      restarts: 0,
    })
    await manager.start(spec, never)
    const first = await readStatus(spec)
    const { isInstalled, isEnabled, state, restarts } = first
    assert.deepEqual({ isInstalled, isEnabled, state, restarts }, RUNNING)
    assert.ok(Math.abs(first.since! - Date.now()) < 60_000)
    await manager.start(spec, never)
    assert.equal((await readStatus(spec)).pid, first.pid)
    assert.deepEqual(await readFile(manager.unit(spec).path), manager.unit(spec).content)
  })

  test('restart() runs the service with the new unit', async () => {
    const spec = service('ai.crabtalk.restarted')
    await manager.start(spec, never)
    const before = await readStatus(spec)
    const changed = { ...spec, argv: ['/bin/sh', '-c', 'echo changed; sleep 1000 & wait'] as const }
    await manager.restart({ ...changed, argv: [...changed.argv] }, never)
    await until('the new one prints', async () => (await readFile(spec.output, 'utf8')) === 'changed\n')
    assert.notEqual((await readStatus(spec)).pid, before.pid)
  })

  test('stop() ends a service and what it has started, and leaves it enabled', async () => {
    const spec = service('ai.crabtalk.stopped', 'sleep 1000 & echo $!; wait')
    await manager.start(spec, never)
    await until('its child runs', async () => (await readFile(spec.output, 'utf8')).endsWith('\n'))
    const child = (await readFile(spec.output, 'utf8')).trim()
    await manager.stop(spec, never)
    const { state, isEnabled, pid } = await readStatus(spec)
    assert.deepEqual({ state, isEnabled, pid }, { state: 'stopped', isEnabled: true, pid: undefined })
    assert.equal(existsSync(`/proc/${child}`), false)
    await manager.stop(spec, never)
  })

  test('a killed service is restarted after a delay, and the signal is reported', async () => {
    const spec = service('ai.crabtalk.killed')
    await manager.start(spec, never)
    const { pid } = await readStatus(spec)
    sendSignal(pid!, 'SIGKILL')
    await until('it waits', async () => (await readStatus(spec)).state === 'waiting')
    assert.deepEqual((await readStatus(spec)).lastExit, { code: null, signal: 'SIGKILL' })
    await manager.start(spec, never) // the test does not wait for the three seconds
    const { state, restarts } = await readStatus(spec)
    assert.deepEqual({ state, restarts }, { state: 'running', restarts: 0 })
  })

  test('a service that keeps crashing fails in the end, and start or stop resets that', async () => {
    const spec = service('ai.crabtalk.crashing', 'exit 1')
    const file = `${manager.unit(spec).path}.d/soon.conf`
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '[Service]\nRestartSec=1ms\n')
    const hasFailed = () =>
      until('it has failed', async () => {
        const { state, restarts } = await readStatus(spec)
        return state === 'failed' && restarts === 10
      })
    await manager.start(spec, never)
    await hasFailed()
    const mended = service(spec.label)
    await manager.start(mended, never)
    assert.equal((await readStatus(spec)).state, 'running')
    await manager.restart(spec, never)
    await hasFailed()
    await manager.stop(spec, never)
    assert.equal((await readStatus(spec)).state, 'stopped')
  })

  test('a service with a wrong configuration is not restarted until a user starts it', async () => {
    const spec = service('ai.crabtalk.wrong', 'exit 78')
    await manager.start(spec, never)
    await until('it has failed', async () => (await readStatus(spec)).state === 'failed')
    const { lastExit, restarts } = await readStatus(spec)
    assert.deepEqual({ lastExit, restarts }, { lastExit: { code: 78, signal: null }, restarts: 0 })
    await manager.restart({ ...spec, argv: service('ai.crabtalk.wrong').argv }, never)
    assert.equal((await readStatus(spec)).state, 'running')
  })

  test('start() does not fail for a program that cannot be started; the state says so', async () => {
    const spec = { ...service('ai.crabtalk.gone'), argv: ['/no/such/program'] as [string] }
    await manager.start(spec, never)
    assert.deepEqual((await readStatus(spec)).lastExit, { code: 203, signal: null })
    await manager.remove(spec.label, never)
  })

  test('disable() keeps a service running, and enable() reverts it', async () => {
    const spec = service('ai.crabtalk.disabled')
    await manager.start(spec, never)
    await manager.disable(spec, never)
    assert.deepEqual(await stateAndEnabled(spec), ['running', false])
    await manager.restart(spec, never)
    assert.deepEqual(await stateAndEnabled(spec), ['running', false])
    await manager.enable(spec, never)
    assert.deepEqual(await stateAndEnabled(spec), ['running', true])
  })

  test('a drop-in of the user is kept and applies', async () => {
    const spec = service('ai.crabtalk.drop-in', 'echo $MINE; sleep 1000 & wait')
    const file = `${manager.unit(spec).path}.d/mine.conf`
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '[Service]\nEnvironment=MINE=yes\n')
    await manager.start(spec, never)
    await until('it prints', async () => (await readFile(spec.output, 'utf8')) === 'yes\n')
    await manager.remove(spec.label, never)
    assert.ok(existsSync(file))
  })

  test('an edited unit is kept next to the new one, which is loaded', async () => {
    const spec = service('ai.crabtalk.edited')
    await manager.start(spec, never)
    const { path } = manager.unit(spec)
    await appendFile(path, '# mine\n')
    await manager.restart(spec, never)
    assert.match(await readFile(editedUnitPath(path), 'utf8'), /# mine\n$/)
    assert.deepEqual(await readFile(path), manager.unit(spec).content)
    assert.equal((await readStatus(spec)).state, 'running')
  })

  test('a unit that was written but never loaded is loaded by the next restart', async () => {
    const spec = service('ai.crabtalk.unloaded')
    await manager.start(spec, never)
    const next = { ...spec, argv: ['/bin/sh', '-c', 'echo next; sleep 1000 & wait'] as [string, ...string[]] }
    await writeFile(manager.unit(next).path, manager.unit(next).content)
    await manager.restart(next, never)
    await until('the new one prints', async () => (await readFile(spec.output, 'utf8')) === 'next\n')
  })

  test('remove() leaves nothing of a service, and may be repeated', async () => {
    const spec = service('ai.crabtalk.removed')
    await manager.start(spec, never)
    assert.ok((await manager.labels(never)).includes(spec.label))
    await manager.remove(spec.label, never)
    await manager.remove(spec.label, never)
    assert.ok(!(await manager.labels(never)).includes(spec.label))
    assert.equal(existsSync(join(user.unitFolder, 'default.target.wants', `${spec.label}.service`)), false)
    assert.deepEqual(await stateAndEnabled(spec), ['stopped', false])
  })

  test('status() follows the order of the labels, including unknown ones', async () => {
    const spec = service('ai.crabtalk.ordered')
    await manager.start(spec, never)
    const all = await manager.status(['ai.crabtalk.x', spec.label, 'ai.crabtalk.y'], never)
    assert.deepEqual(
      all.map(({ label, state, isInstalled }) => [label, state, isInstalled]),
      [
        ['ai.crabtalk.x', 'stopped', false],
        [spec.label, 'running', true],
        ['ai.crabtalk.y', 'stopped', false],
      ],
    )
  })

  function service(label: string, script?: string): ServiceSpec {
    const home = join(fixture.home, label)
    return { ...makeServiceSpec(home, script), label }
  }

  async function readStatus({ label }: ServiceSpec): Promise<ServiceStatus> {
    return (await manager.status([label], never))[0]!
  }

  async function stateAndEnabled(spec: ServiceSpec): Promise<[string, boolean]> {
    const { state, isEnabled } = await readStatus(spec)
    return [state, isEnabled]
  }
}

const RUNNING = { isInstalled: true, isEnabled: true, state: 'running', restarts: 0 }
