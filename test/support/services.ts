import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HomePaths, homePaths } from '../../src/core/config/paths.ts'
import { toUpHost } from '../../src/up/host.ts'
import { clearDesired, listServiceNames, servicesFolder } from '../../src/up/supervisor/desired-state.ts'
import { findSupervisor, readRecord, type ServiceRecord } from '../../src/up/supervisor/record.ts'
import { type SupervisorOptions, supervise } from '../../src/up/supervisor/supervise.ts'
import type { ServiceSpec, UpHost } from '../../src/up/types.ts'
import { FROM_SOURCE } from './daemon.ts'
import { endProcesses, kill, processesLeft } from './processes.ts'
import { until } from './until.ts'

/** A home with its own services; disposing ends them, and fails when a process is still running. */
export interface ServiceHome extends AsyncDisposable {
  paths: HomePaths
  /** The folder of the supervisor's files. */
  folder: string
  host: UpHost
  /** The command that starts crabtalk from source. */
  program: readonly [string, ...string[]]
  /** Builds a service that runs a line of /bin/sh. */
  spec(name: string, line: string): ServiceSpec
  /** Runs a supervisor in this process, with quick restarts; it ends when the signal is aborted. */
  supervise(signal: AbortSignal, options?: Partial<SupervisorOptions>): Promise<boolean>
  record(name: string): ServiceRecord | undefined
  /** Waits until the record of a service satisfies the condition, and returns it. */
  recorded(name: string, isSo: (record: ServiceRecord) => boolean): Promise<ServiceRecord>
  /** Lists the pids of processes that belong to this home. */
  left(): Promise<number[]>
}

/** A restart policy for tests, without waits of seconds. */
export const QUICK = { restartMs: 20, maxStarts: 10, windowMs: 300_000, graceMs: 300, lookMs: 10 }

/** Creates one, by default in the temporary folder. */
export async function makeServiceHome(parent = tmpdir()): Promise<ServiceHome> {
  const dir = await mkdtempDisposable(join(parent, 'crab up '))
  const home = join(dir.path, 'home')
  const env = { ...process.env, HOME: dir.path, CRABTALK_HOME: home }
  const paths = homePaths(env, { cwd: '/', homeDir: dir.path })
  const folder = servicesFolder(paths)
  const host = toUpHost({ env, pid: process.pid, uid: process.getuid?.() ?? 0, homeDir: dir.path })
  const mark = `CRABTALK_HOME=${home}`
  const record = (name: string) => readRecord(folder, name)
  return {
    ...{ paths, folder, host, record },
    program: [...FROM_SOURCE],
    spec: (name, line) => ({
      name,
      label: `ai.crabtalk.${name}.test`,
      description: 'A service of a test',
      argv: ['/bin/sh', '-c', line],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', CRABTALK_HOME: home },
      envFile: join(home, 'service.env'),
      output: join(paths.logs, `${name}.crash.log`),
    }),
    supervise: (signal, options) =>
      supervise(
        { folder, pid: process.pid, env: {}, log: () => {}, now: Date.now, pace: QUICK, ...options },
        signal,
      ),
    async recorded(name, isSo) {
      const so = () => {
        const now = record(name)
        return now !== undefined && isSo(now)
      }
      await until(`the record of ${name} is as it is to be: ${isSo}`, so)
      return record(name)!
    },
    left: () => processesLeft(mark),
    async [Symbol.asyncDispose]() {
      await endServices(paths)
      const left = await endProcesses(mark)
      await dir.remove()
      assert.deepEqual(left, [], 'processes were left running')
    },
  }
}

/** Ends crabup's own supervisor of a home and everything it runs, to clean up after a test. */
export async function endServices(paths: Pick<HomePaths, 'run'>): Promise<void> {
  const folder = servicesFolder(paths)
  for (const name of listServiceNames(folder).desired) clearDesired(folder, name)
  const supervisor = await findSupervisor(folder)
  if (supervisor === undefined || supervisor.pid === process.pid) return
  await until('the supervisor has ended', async () => (await findSupervisor(folder)) === undefined).catch(
    (reason) => {
      kill(supervisor.pid)
      throw reason
    },
  )
}
