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

test('gatherRows() joins the facts of the service manager, the services and the system', async () => {
  await using fixture = await makeSupervisedHome()
  await fixture.want('clock', 'sleep 100 & wait')
  const { pid } = await fixture.home.recorded('clock', (record) => record.state === 'running')
  const since = Date.now()
  const [clock, cron] = await fixture.gather(['clock', 'cron'], async (name) =>
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

test('gatherRows() says where the configuration is wrong that made a service exit', async () => {
  await using fixture = await makeSupervisedHome()
  await fixture.want('clock', 'exit 78')
  await fixture.home.recorded('clock', (record) => record.state === 'failed')
  const [row] = await fixture.gather(['clock'])
  assert.equal(row?.state, 'crashed')
  assert.match(row?.detail ?? '', /^exit 78/)
  assert.deepEqual(row?.notes[1], { message: 'config.toml:3: no such key', hint: 'remove it' })
})

test('gatherRows() says where the configuration is wrong under launchd, where the exit code does not tell', async () => {
  await using fixture = await makeSupervisedHome()
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
    const [row] = await fixture.gather(['clock'], undefined, {
      manager: { ...fixture.manager, kind, status },
    })
    assert.deepEqual([row?.state, row?.notes], ['stopped', notes], kind)
  }
})

test('gatherRows() removes the leftovers of a dead process, unless they are kept or a service may own them', async () => {
  await using fixture = await makeSupervisedHome()
  const file = join(fixture.home.paths.run, 'clock.port')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, '4711\n')
  await utimes(file, 1, 1)
  const stamp = (await readStaleStamp(file, Date.now()))!
  const probe = async () => ({ answers: false, leftover: { file, stamp } })
  const files = () => readdir(fixture.home.paths.run)
  const [stale] = await fixture.gather(['clock'], probe, { keepsStale: true })
  assert.match(stale!.notes[0]!.message, /^clock\.port was left behind by a process that has ended$/)
  assert.ok((await files()).includes('clock.port'))
  await fixture.want('clock', 'exec sleep 100')
  await fixture.home.recorded('clock', (record) => record.state === 'running')
  const [owned] = await fixture.gather(['clock'], probe)
  assert.deepEqual([owned?.state, (await files()).includes('clock.port')], ['starting', true])
  await fixture.stop('clock')
  const [removed] = await fixture.gather(['clock'], probe)
  assert.equal(removed?.state, 'stale')
  assert.match(removed!.notes[0]!.message, /; removed$/)
  assert.ok(!(await files()).includes('clock.port'))
})

test('gatherRows() says that nothing would restart a service, and how to fix that', async () => {
  await using fixture = await makeSupervisedHome()
  const hint = 'crabup clock start'
  const gatherNotes = async (run: { state: 'running'; pid: number } | { state: 'stopped' }) => {
    const one = { isInstalled: true, isEnabled: false, isLost: true, ...run } as const
    const status = async ([label = '']: readonly string[]) => [{ label, ...one }]
    const probe = async () => ({ answers: run.state === 'running' })
    const [row] = await fixture.gather(['clock'], probe, { manager: { ...fixture.manager, status } })
    return row?.notes
  }
  const message = 'the process that kept it running was killed, so it'
  assert.deepEqual(await gatherNotes({ state: 'stopped' }), [
    { message: `${message} is not restarted`, hint },
  ])
  assert.deepEqual(await gatherNotes({ state: 'running', pid: process.pid }), [
    { message: `${message} would not be restarted`, hint },
  ])
})

test('gatherRows() shows what answers when the service manager cannot be asked, and why', async () => {
  await using fixture = await makeSupervisedHome()
  const failure = new Error('no bus')
  const manager = { ...fixture.manager, status: () => Promise.reject(failure) }
  const sought = [{ name: 'clock', label: 'l', version: '2.0' }]
  const ports = { ...fixture.ports, manager, probe: async () => ({ answers: true, pid: process.pid }) }
  const { rows, problem } = await gatherRows(sought, ports, new AbortController().signal)
  assert.deepEqual([rows[0]?.state, rows[0]?.pid, problem], ['ready', process.pid, failure])
  assert.match(rows[0]!.notes[0]!.message, /started by hand/)
})

/** A home with our own supervisor, whose services are shell commands. */
async function makeSupervisedHome() {
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
