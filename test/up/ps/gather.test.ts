import assert from 'node:assert/strict'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { supervisorManager } from '../../../src/up/managers/supervisor.ts'
import { readStaleStamp } from '../../../src/up/probe/stale-files.ts'
import { type GatherPorts, gatherRows, type ServiceRow } from '../../../src/up/ps/gather.ts'
import { newStartRequest, setDesired } from '../../../src/up/supervisor/desired-state.ts'
import type { ServiceSpec } from '../../../src/up/types.ts'
import { makeServiceHome, type ServiceHome } from '../../support/services.ts'

test('gatherRows() joins what the service manager, the services and the system say', async () => {
  await using stage = await makeStage()
  await stage.want('clock', 'sleep 100 & wait')
  const { pid } = await stage.home.recorded('clock', (record) => record.state === 'running')
  const since = Date.now()
  const [clock, cron] = await stage.gather(['clock', 'cron'], async (name) =>
    name === 'clock' ? { answers: true, pid: pid!, port: 4711, version: '1.0' } : { answers: false },
  )
  assert.deepEqual([clock?.state, clock?.pid, clock?.port, clock?.isInstalled], ['ready', pid, 4711, true])
  assert.ok(clock!.memoryBytes! > 0 && clock!.processes! >= 1, JSON.stringify(clock))
  assert.ok(Math.abs(clock!.since! - since) < 30_000)
  assert.deepEqual(
    clock?.notes.map(({ message }) => message),
    ['update pending: it runs 1.0, 2.0 is installed'],
  )
  assert.deepEqual(
    [cron?.state, cron?.pid, cron?.isInstalled, cron?.notes],
    ['stopped', undefined, false, []],
  )
})

test('gatherRows() says where the configuration is wrong that a service ended with', async () => {
  await using stage = await makeStage()
  await stage.want('clock', 'exit 78')
  await stage.home.recorded('clock', (record) => record.state === 'failed')
  const [row] = await stage.gather(['clock'])
  assert.equal(row?.state, 'crashed')
  assert.match(row?.detail ?? '', /^exit 78/)
  assert.deepEqual(row?.notes[1], { message: 'config.toml:3: no such key', hint: 'remove it' })
})

test('gatherRows() says where the configuration is wrong of what launchd ran to an end, whose exit code does not tell', async () => {
  await using stage = await makeStage()
  const status = async ([label = '']: readonly string[]) => [
    {
      label,
      isInstalled: true,
      isEnabled: true,
      state: 'stopped',
      lastExit: { code: 0, signal: null },
    } as const,
  ]
  for (const [kind, notes] of [
    ['launchd', [{ message: 'config.toml:3: no such key', hint: 'remove it' }]],
    ['systemd', []],
  ] as const) {
    const [row] = await stage.gather(['clock'], undefined, { manager: { ...stage.manager, kind, status } })
    assert.deepEqual([row?.state, row?.notes], ['stopped', notes], kind)
  }
})

test('gatherRows() removes what is left of one that has gone, unless it is to stay or a service may own it', async () => {
  await using stage = await makeStage()
  const file = join(stage.home.paths.run, 'clock.port')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, '4711\n')
  await utimes(file, 1, 1)
  const stamp = (await readStaleStamp(file, Date.now()))!
  const probe = async () => ({ answers: false, leftover: { file, stamp } })
  const files = () => readdir(stage.home.paths.run)
  const [kept] = await stage.gather(['clock'], probe, { keepsStale: true })
  assert.match(kept!.notes[0]!.message, /^clock\.port was left behind by a process that has ended$/)
  assert.ok((await files()).includes('clock.port'))
  await stage.want('clock', 'exec sleep 100')
  await stage.home.recorded('clock', (record) => record.state === 'running')
  const [owned] = await stage.gather(['clock'], probe)
  assert.deepEqual([owned?.state, (await files()).includes('clock.port')], ['starting', true])
  await stage.stop('clock')
  const [gone] = await stage.gather(['clock'], probe)
  assert.equal(gone?.state, 'stale')
  assert.match(gone!.notes[0]!.message, /; removed$/)
  assert.ok(!(await files()).includes('clock.port'))
})

test('gatherRows() says that nothing would start a service again, and what mends that', async () => {
  await using stage = await makeStage()
  const hint = 'crabup clock start'
  const notesOf = async (run: { state: 'running'; pid: number } | { state: 'stopped' }) => {
    const one = { isInstalled: true, isEnabled: false, isLost: true, ...run } as const
    const status = async ([label = '']: readonly string[]) => [{ label, ...one }]
    const probe = async () => ({ answers: run.state === 'running' })
    const [row] = await stage.gather(['clock'], probe, { manager: { ...stage.manager, status } })
    return row?.notes
  }
  const message = 'the process that kept it running was killed, so it'
  assert.deepEqual(await notesOf({ state: 'stopped' }), [{ message: `${message} is not restarted`, hint }])
  assert.deepEqual(await notesOf({ state: 'running', pid: process.pid }), [
    { message: `${message} would not be restarted`, hint },
  ])
})

test('gatherRows() shows what answers where the service manager cannot be asked, and why', async () => {
  await using stage = await makeStage()
  const failure = new Error('no bus')
  const manager = { ...stage.manager, status: () => Promise.reject(failure) }
  const sought = [{ name: 'clock', label: 'l', version: '2.0' }]
  const ports = { ...stage.ports, manager, probe: async () => ({ answers: true, pid: process.pid }) }
  const { rows, problem } = await gatherRows(sought, ports, new AbortController().signal)
  assert.deepEqual([rows[0]?.state, rows[0]?.pid, problem], ['ready', process.pid, failure])
  assert.match(rows[0]!.notes[0]!.message, /started by hand/)
})

/** A home with a supervisor of our own, whose services are lines of a shell. */
async function makeStage() {
  const home: ServiceHome = await makeServiceHome()
  const stop = new AbortController()
  const place = { paths: home.paths, program: home.program }
  const manager = supervisorManager(home.host, place, undefined)
  const problem = {
    file: 'config.toml',
    line: 3,
    column: undefined,
    key: 'x',
    message: 'no such key',
    hint: 'remove it',
  }
  const ports: GatherPorts = {
    manager,
    probe: async () => ({ answers: false }),
    findProblems: async () => [problem],
    now: Date.now,
  }
  let supervising: Promise<unknown> | undefined
  const specs = new Map<string, ServiceSpec>()
  return {
    home,
    manager,
    ports,
    async want(name: string, line: string) {
      const spec = home.spec(name, line)
      specs.set(name, spec)
      await setDesired(home.folder, spec, newStartRequest('start'))
      supervising ??= home.supervise(stop.signal)
    },
    stop: (name: string) => manager.stop(specs.get(name)!, stop.signal),
    async gather(
      names: readonly string[],
      probe: GatherPorts['probe'] = ports.probe,
      more: Partial<GatherPorts> = {},
    ): Promise<readonly ServiceRow[]> {
      const sought = names.map((name) => ({ name, label: home.spec(name, '').label, version: '2.0' }))
      return (await gatherRows(sought, { ...ports, ...more, probe }, stop.signal)).rows
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await supervising
      await home[Symbol.asyncDispose]()
    },
  }
}
