import { endService } from '../../core/process/service-process.ts'
import { findSupervisor, readRecord, writeRecord } from '../supervisor/record.ts'
import { knownSpecs, removeKnown, type ServiceFolder, statusOf, stopWanted } from '../supervisor/verbs.ts'
import { ask, readWanted, servicesFolder, wantService } from '../supervisor/wanted.ts'
import type { ManagerPlace, ServiceStatus } from '../types.ts'
import type { TaskLoop } from './schtasks.ts'

/** The loop of one service for a home: `supervise NAME` reads the same files that our own supervisor reads for all services. */
export function taskLoop({ paths, program }: ManagerPlace): TaskLoop {
  const folder = servicesFolder(paths)
  const specOf = (label: string) => knownSpecs(folder).find((spec) => spec.label === label)
  const at = (name: string): ServiceFolder => ({ folder, only: name, ensure: () => endLost(folder, name) })
  return {
    command: ({ name }) => [...program, 'supervise', name, '--home', paths.home],
    want: (spec) => wantService(folder, spec, ask('start')),
    async end(label, signal) {
      const name = specOf(label)?.name
      if (name !== undefined) await stopWanted(at(name), name, signal)
    },
    async forget(label) {
      const name = specOf(label)?.name
      if (name !== undefined) await removeKnown(at(name), name, AbortSignal.timeout(FORGET_MS))
    },
    async isRunning(label) {
      const name = specOf(label)?.name
      return name !== undefined && (await findSupervisor(folder, name)) !== undefined
    },
    async hasHeard(label) {
      const name = specOf(label)?.name
      if (name === undefined) return false
      return !isDue(folder, name) || (await findSupervisor(folder, name)) !== undefined
    },
    async status(label) {
      const name = specOf(label)?.name
      if (name === undefined) return undefined
      const [status] = await statusOf({ folder, only: name }, [label])
      return status && isDue(folder, name) && RESTS.has(status.state)
        ? { ...status, state: 'starting' }
        : status
    },
  }
}

/** Whether a loop that was started has not come to what it is started for: a task takes its time. */
function isDue(folder: string, name: string): boolean {
  const wanted = readWanted(folder, name)
  return wanted !== undefined && wanted.asked.id !== readRecord(folder, name)?.asked
}

/** A loop that was killed ends nothing any more. */
async function endLost(folder: string, name: string): Promise<void> {
  if (await findSupervisor(folder, name)) return
  const record = readRecord(folder, name)
  if (record === undefined) return
  const { pid, identity, mark } = record
  if (pid !== undefined && identity !== undefined && mark !== undefined) {
    await endService({ pid, identity, mark }, GRACE_MS)
  }
  writeRecord(folder, name, { ...record, state: 'stopped' })
}

const RESTS: ReadonlySet<ServiceStatus['state']> = new Set(['stopped', 'failed'])
const GRACE_MS = 30_000
const FORGET_MS = 40_000
