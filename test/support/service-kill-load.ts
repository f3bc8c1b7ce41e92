import assert from 'node:assert/strict'
import { CrabError } from '../../src/core/base/errors.ts'
import { readIdentity } from '../../src/core/process/service-process.ts'
import { supervisorManager } from '../../src/up/managers/supervisor.ts'
import { findSupervisor } from '../../src/up/supervisor/record.ts'
import type { ServiceManager, ServiceSpec } from '../../src/up/types.ts'
import { kill } from './processes.ts'
import { makeServiceHome, type ServiceHome } from './services.ts'
import { until } from './until.ts'

/** The result of a run of kills. */
export interface ServiceKills {
  rounds: number
  kills: number
  verbs: number
}

/**
 * Runs verbs and kill -9 of services and of their supervisor concurrently, round after round. Checks after
 * each round that starting everything leads to one supervisor and one process tree for each service, and at
 * the end that nothing is left. `program` starts crabtalk, by default from source.
 */
export async function killServices(
  rounds: number,
  program?: readonly [string, ...string[]],
): Promise<ServiceKills> {
  await using at = await makeServiceHome()
  const manager = supervisorManager(at.host, { paths: at.paths, program: program ?? at.program }, undefined)
  const specs = ['one', 'two'].map((name) => at.spec(name, 'sleep 1000 & wait'))
  const came = { rounds, kills: 0, verbs: 0 }
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(Array.from({ length: 3 }, () => disturb({ at, manager, spec: pick(specs), came })))
    await startAll(at, manager, specs)
  }
  await Promise.all(specs.map((spec) => manager.stop(spec, NEVER)))
  await until('nothing is left', async () => (await at.left()).length === 0)
  return came
}

interface Disturbance {
  at: ServiceHome
  manager: ServiceManager
  spec: ServiceSpec
  came: ServiceKills
}

async function disturb({ at, manager, spec, came }: Disturbance): Promise<void> {
  const verb = pick(['start', 'stop', 'restart', 'kill', 'kill-supervisor', 'kill-both'] as const)
  if (verb === 'start' || verb === 'stop' || verb === 'restart') {
    came.verbs += 1
    return await manager[verb](spec, NEVER).catch(ifOverruled)
  }
  const supervisor = await findSupervisor(at.folder)
  const [status] = await manager.status([spec.label], NEVER)
  const pids = {
    kill: [status?.pid],
    'kill-supervisor': [supervisor?.pid],
    'kill-both': [supervisor?.pid, status?.pid],
  }
  for (const pid of pids[verb]) {
    const identity = pid === undefined ? undefined : await readIdentity(pid)
    if (pid === undefined || identity === undefined) continue
    came.kills += 1
    kill(pid)
    await until('it is gone', async () => (await readIdentity(pid)) !== identity)
  }
}

/** Checks for one supervisor, a tree of two processes for each service, with separate pids, and nothing else. */
async function startAll(
  at: ServiceHome,
  manager: ServiceManager,
  specs: readonly ServiceSpec[],
): Promise<void> {
  for (const spec of specs) await manager.start(spec, NEVER)
  const labels = specs.map(({ label }) => label)
  await until('all of it runs once', async () => {
    const statuses = await manager.status(labels, NEVER)
    const supervisor = await findSupervisor(at.folder)
    const left = await at.left()
    const pids = [supervisor?.pid, ...statuses.map(({ pid }) => pid)]
    return (
      left.length === 1 + 2 * specs.length && pids.every((pid) => pid !== undefined && left.includes(pid))
    )
  })
}

/** Ignores the conflict that one of two opposite, simultaneous requests receives. */
function ifOverruled(reason: unknown): void {
  assert.ok(reason instanceof CrabError && reason.kind === 'conflict', String(reason))
}

function pick<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)]!
}

const NEVER = new AbortController().signal
