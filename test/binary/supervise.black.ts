import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { servicesFolder } from '../../src/up/supervisor/desired-state.ts'
import { findSupervisor, readRecord } from '../../src/up/supervisor/record.ts'
import { kill, readOfProcess } from '../support/processes.ts'
import { type Finished, makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { shortConfig, writeConfig } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** The tests never use the service manager of this machine. */
const env = { ...WITH_DAEMON, CRABTALK_SERVICE_MANAGER: 'supervisor' }

test('a service outlives its terminal and its supervisor, which the next command starts again', async () => {
  await using box = await makeSandbox()
  await writeConfig(box.home, shortConfig('http://127.0.0.1:9'))
  const terminal = box.terminalShell('crabup daemon start && exec sleep 1000', { env })
  await terminal.shows(/daemon is ready/)
  terminal.hangUp()
  await terminal.finished
  const [supervisor, daemon] = [await readSupervisorPid(box), readDaemonPid(box)]
  assert.deepEqual(
    [await readProcessSession(supervisor), await readProcessSession(daemon)],
    [supervisor, daemon],
  )
  await onlyTheseRun(box, [supervisor, daemon])
  kill(supervisor)
  await onlyTheseRun(box, [daemon])
  const starts = await Promise.all([crabup(box, 'daemon', 'start'), crabup(box, 'daemon', 'start')])
  assert.deepEqual(
    starts.map(({ code, stderr }) => [code, stderr]),
    [
      [0, ''],
      [0, ''],
    ],
  )
  assert.equal(readDaemonPid(box), daemon)
  await onlyTheseRun(box, [await readSupervisorPid(box), daemon])
  assert.equal((await crabup(box, 'daemon', 'stop')).code, 0)
  await onlyTheseRun(box, [])
})

test('TERM ends a supervisor and its services, and so does removing their home', async () => {
  await using box = await makeSandbox()
  await writeConfig(box.home, shortConfig('http://127.0.0.1:9'))
  assert.equal((await crabup(box, 'daemon', 'start')).code, 0)
  process.kill(await readSupervisorPid(box), 'SIGTERM')
  await onlyTheseRun(box, [])
  assert.equal((await crabup(box, 'daemon', 'start')).code, 0)
  await rm(box.home, { recursive: true, maxRetries: 20 })
  await onlyTheseRun(box, [])
  assert.equal(existsSync(join(box.home, 'run/services')), false)
})

async function crabup(box: Sandbox, ...args: string[]): Promise<Finished> {
  return await box.run(args, { program: 'crabup', env })
}

function resolveServicesFolder({ home }: Sandbox): string {
  return servicesFolder({ run: join(home, 'run') })
}

async function readSupervisorPid(box: Sandbox): Promise<number> {
  return (await findSupervisor(resolveServicesFolder(box)))!.pid
}

function readDaemonPid(box: Sandbox): number {
  return readRecord(resolveServicesFolder(box), 'daemon')!.pid!
}

async function readProcessSession(pid: number): Promise<number> {
  const stat = await readOfProcess(String(pid), 'stat')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3])
}

async function onlyTheseRun(box: Sandbox, pids: readonly number[]): Promise<void> {
  const expected = pids.toSorted().join()
  await until(
    `${expected} is all that runs`,
    async () => (await box.processesLeft()).toSorted().join() === expected,
  )
}
