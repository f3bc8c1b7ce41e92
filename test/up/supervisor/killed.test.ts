import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { makePrivateDirSync } from '../../../src/core/base/files.ts'
import { bootId, readIdentity, SERVICE_TAG } from '../../../src/core/process/service-process.ts'
import { clearDesired, newStartRequest, setDesired } from '../../../src/up/supervisor/desired-state.ts'
import { findSupervisor, type ServiceRecord, writeRecord } from '../../../src/up/supervisor/record.ts'
import { kill } from '../../support/processes.ts'
import { makeServiceHome, type ServiceHome } from '../../support/services.ts'
import { until } from '../../support/until.ts'

const STAYS = 'exec sleep 1000'
const signal = new AbortController().signal

/** Starts a supervisor in its own process, and kills it once the service runs. */
async function superviseAndKill(at: ServiceHome, name: string) {
  const [program, ...args] = at.program
  const child = spawn(program, [...args, 'supervise', '--home', at.paths.home], { env: {}, stdio: 'ignore' })
  const ended = once(child, 'exit')
  const { pid } = await at.recorded(name, ({ state }) => state === 'running')
  const supervisor = await findSupervisor(at.folder)
  assert.equal(supervisor?.pid, child.pid)
  child.kill('SIGKILL')
  await ended
  assert.equal(await findSupervisor(at.folder), undefined)
  return pid!
}

test('supervise() continues with services that outlived a killed supervisor', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  const pid = await superviseAndKill(at, 'one')
  assert.deepEqual(await at.left(), [pid])
  const done = at.supervise(signal)
  await until('a supervisor is there', async () => (await findSupervisor(at.folder)) !== undefined)
  await setDesired(at.folder, at.spec('two', STAYS), newStartRequest('start'))
  await at.recorded('two', ({ state }) => state === 'running')
  assert.equal(at.record('one')?.pid, pid)
  await until('both run', async () => (await at.left()).length === 2)
  kill(pid)
  const again = await at.recorded('one', ({ state, restarts }) => state === 'running' && restarts === 1)
  assert.deepEqual(again.lastExit, { code: null, signal: null })
  clearDesired(at.folder, 'one')
  clearDesired(at.folder, 'two')
  assert.equal(await done, true)
})

test('supervise() stops what was stopped while no supervisor ran', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', `sleep 1000 & ${STAYS}`), newStartRequest('start'))
  await superviseAndKill(at, 'one')
  clearDesired(at.folder, 'one')
  assert.equal(await at.supervise(signal), true)
  assert.deepEqual(await at.left(), [])
  assert.equal(at.record('one')?.state, 'stopped')
})

test('supervise() ends the rest of a service that was killed together with a stopping supervisor', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', 'sleep 1000 & wait'), newStartRequest('start'))
  const pid = await superviseAndKill(at, 'one')
  await until('both run', async () => (await at.left()).length === 2)
  writeRecordIn(at, 'one', { ...at.record('one')!, state: 'stopping' })
  kill(pid)
  await until('it has ended', async () => (await at.left()).length === 1)
  clearDesired(at.folder, 'one')
  assert.equal(await at.supervise(signal), true)
  assert.deepEqual(await at.left(), [])
  assert.equal(at.record('one')?.state, 'stopped')
})

test('supervise() ends the rest of a service that was killed together with its supervisor, and starts it again', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', 'sleep 1000 & wait'), newStartRequest('start'))
  const pid = await superviseAndKill(at, 'one')
  await until('both run', async () => (await at.left()).length === 2)
  const before = await at.left()
  kill(pid)
  await until('it has ended', async () => (await at.left()).length === 1)
  const done = at.supervise(signal)
  await at.recorded('one', (record) => record.state === 'running' && record.pid !== pid)
  await until('both run again', async () => (await at.left()).length === 2)
  const after = await at.left()
  assert.deepEqual(
    after.filter((one) => before.includes(one)),
    [],
  )
  clearDesired(at.folder, 'one')
  assert.equal(await done, true)
})

test('supervise() never touches another process that now has the id of a service', async () => {
  await using at = await makeServiceHome()
  const other = spawn('/bin/sleep', ['1000'], { env: {}, stdio: 'ignore', detached: true })
  const ended = once(other, 'exit')
  try {
    const identity = `${await readIdentity(other.pid!)}0`
    const record: ServiceRecord = {
      state: 'running',
      boot: await bootId(),
      restarts: 0,
      starts: [],
      mark: 'M',
      pid: other.pid!,
      identity,
    }
    writeRecordIn(at, 'one', record)
    await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
    const done = at.supervise(signal)
    await at.recorded('one', ({ state, pid }) => state === 'running' && pid !== other.pid)
    clearDesired(at.folder, 'one')
    await done
    assert.notEqual(await readIdentity(other.pid!), undefined)
  } finally {
    other.kill('SIGKILL')
    await ended
  }
})

test('supervise() finds a service by its tag if its supervisor was killed before it wrote the pid', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  const env = { CRABTALK_HOME: at.paths.home, [SERVICE_TAG]: 'MARK-OF-IT', PATH: '/usr/bin:/bin' }
  const service = spawn('/bin/sh', ['-c', 'setsid sleep 1000 & exec sleep 1000'], {
    env,
    stdio: 'ignore',
    detached: true,
  })
  writeRecordIn(at, 'one', {
    state: 'starting',
    boot: await bootId(),
    restarts: 0,
    starts: [],
    mark: 'MARK-OF-IT',
  })
  await until('both run', async () => (await at.left()).length === 2)
  const done = at.supervise(signal)
  const { pid } = await at.recorded('one', ({ state }) => state === 'running')
  assert.equal(pid, service.pid)
  assert.equal((await at.left()).length, 2)
  clearDesired(at.folder, 'one')
  assert.equal(await done, true)
})

function writeRecordIn(at: ServiceHome, name: string, record: ServiceRecord): void {
  makePrivateDirSync(at.folder)
  assert.ok(writeRecord(at.folder, name, record))
}
