import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { test } from 'node:test'
import { supervisorManager } from '../../../src/up/managers/supervisor.ts'
import { newStartRequest, setDesired } from '../../../src/up/supervisor/desired-state.ts'
import { findSupervisor } from '../../../src/up/supervisor/record.ts'
import { kill, readOfProcess } from '../../support/processes.ts'
import { makeServiceHome, type ServiceHome } from '../../support/services.ts'
import { until } from '../../support/until.ts'

const STAYS = 'exec sleep 1000'
const { signal } = new AbortController()

function createManager(at: ServiceHome) {
  return supervisorManager(at.host, at, 'no systemd here, so nothing starts at login')
}

test('supervisorManager() starts, restarts, stops and removes a service; every call may be repeated', async () => {
  await using at = await makeServiceHome()
  const manager = createManager(at)
  const spec = at.spec('one', `echo "$0 $*"; ${STAYS}`)
  const readStatus = async () => (await manager.status([spec.label], signal))[0]!
  assert.deepEqual(await readStatus(), {
    label: spec.label,
    isInstalled: false,
    isEnabled: false,
    state: 'stopped',
  })
  await manager.stop(spec, signal)
  await manager.start(spec, signal)
  const first = await readStatus()
  assert.equal(first.state, 'running')
  assert.equal(first.restarts, 0)
  await manager.start(spec, signal)
  assert.equal((await readStatus()).pid, first.pid)
  assert.deepEqual(await manager.labels(signal), [spec.label])
  await manager.restart(spec, signal)
  const second = await readStatus()
  assert.equal(second.state, 'running')
  assert.notEqual(second.pid, first.pid)
  await manager.stop(spec, signal)
  await manager.stop(spec, signal)
  const { pid, state, isInstalled } = await readStatus()
  assert.deepEqual({ pid, state, isInstalled }, { pid: undefined, state: 'stopped', isInstalled: true })
  await until('the supervisor has nothing left to do', async () => (await at.left()).length === 0)
  await manager.remove(spec.label, signal)
  await manager.remove(spec.label, signal)
  assert.deepEqual(await manager.labels(signal), [])
})

test('supervisorManager() has one supervisor and one service for many concurrent starts', async () => {
  await using at = await makeServiceHome()
  const spec = at.spec('one', `echo up; ${STAYS}`)
  await Promise.all(Array.from({ length: 4 }, () => createManager(at).start(spec, signal)))
  const supervisor = await findSupervisor(at.folder)
  await until('the others have left', async () => (await at.left()).length === 2)
  assert.ok((await at.left()).includes(supervisor!.pid))
  assert.equal(readFileSync(spec.output, 'utf8'), 'up\n')
  await createManager(at).stop(spec, signal)
})

test('supervisorManager() reports services whose supervisor was killed, and starts one when it is needed', async () => {
  await using at = await makeServiceHome()
  const manager = createManager(at)
  const [one, two] = [at.spec('one', STAYS), at.spec('two', STAYS)]
  await manager.start(one, signal)
  await manager.start(two, signal)
  const killed = await findSupervisor(at.folder)
  kill(killed!.pid)
  await until('it is gone', async () => (await findSupervisor(at.folder)) === undefined)
  const before = await manager.status([one.label, two.label], signal)
  assert.deepEqual(
    before.map(({ state }) => state),
    ['running', 'running'],
  )
  assert.deepEqual(
    before.map(({ isLost }) => isLost),
    [true, true],
  )
  kill(before[1]!.pid!)
  await until(
    'nothing of two runs',
    async () => (await manager.status([two.label], signal))[0]!.state === 'stopped',
  )
  await manager.start(one, signal)
  assert.notEqual((await findSupervisor(at.folder))?.pid, killed!.pid)
  const [survivor] = await manager.status([one.label], signal)
  assert.deepEqual([survivor!.pid, survivor!.isLost], [before[0]!.pid, undefined])
  await until(
    'two runs again',
    async () => (await manager.status([two.label], signal))[0]!.state === 'running',
  )
  kill((await findSupervisor(at.folder))!.pid)
  await until('it is gone', async () => (await findSupervisor(at.folder)) === undefined)
  await manager.stop(one, signal)
  await manager.stop(two, signal)
  assert.deepEqual(
    (await manager.status([one.label, two.label], signal)).map(({ state }) => state),
    ['stopped', 'stopped'],
  )
  await until('the supervisor has nothing left to do', async () => (await at.left()).length === 0)
})

test('supervisorManager() cannot start anything at login, and says so', async () => {
  await using at = await makeServiceHome()
  const manager = createManager(at)
  const spec = at.spec('one', STAYS)
  const expected = { kind: 'unavailable', message: /no systemd here, so nothing starts at login/ }
  await assert.rejects(manager.enable(spec, signal), expected)
  await assert.rejects(manager.disable(spec, signal), expected)
  assert.equal(existsSync(at.folder), false)
})

test('a supervisor has a session of its own and holds no resources of its starter', async () => {
  await using at = await makeServiceHome()
  const [program, ...args] = at.program
  const file = `${at.host.homeDir}/held`
  const script = 'exec 9>"$0" 63>"$0"; "$@" & echo $!; wait'
  const line = ['-c', script, file, program, ...args, 'supervise', '--home', at.paths.home]
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  const shell = spawn('/bin/bash', line, { env: { SECRET: 'x', HOME: at.host.homeDir }, stdio: 'ignore' })
  const ended = once(shell, 'exit')
  const { pid } = await at.recorded('one', ({ state }) => state === 'running')
  assert.deepEqual(await findHeld(pid!, file), [])
  const supervisor = await findSupervisor(at.folder)
  assert.doesNotMatch(await readOfProcess(String(pid), 'environ'), /SECRET/)
  process.kill(supervisor!.pid, 'SIGTERM')
  await ended
  assert.deepEqual(await at.left(), [])
})

async function findHeld(pid: number, file: string): Promise<string[]> {
  const fds = await readdir(`/proc/${pid}/fd`)
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`)))
  return links.filter((link) => link === file)
}
