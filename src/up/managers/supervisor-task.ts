import { endService } from '../../core/process/service-process.ts'
import { newStartRequest, readDesired, servicesFolder, setDesired } from '../supervisor/desired-state.ts'
import { findSupervisor, readRecord, writeRecord } from '../supervisor/record.ts'
import {
  listSpecs,
  readStatuses,
  removeSupervised,
  type ServiceFolder,
  stopSupervised,
} from '../supervisor/verbs.ts'
import type { ManagerContext, ServiceStatus } from '../types.ts'
import type { TaskLoop } from './schtasks.ts'

/**
 * Builds the loop of one service for a home: `supervise NAME` reads the same files as crabup's supervisor,
 * which reads them for all services.
 */
export function taskLoop({ paths, program }: ManagerContext): TaskLoop {
  const folder = servicesFolder(paths)
  const findByLabel = (label: string) => listSpecs(folder).find((spec) => spec.label === label)
  const at = (name: string): ServiceFolder => ({ folder, only: name, ensure: () => endLost(folder, name) })
  return {
    command: ({ name }) => [...program, 'supervise', name, '--home', paths.home],
    writeSpec: (spec) => setDesired(folder, spec, newStartRequest('start')),
    async end(label, signal) {
      const name = findByLabel(label)?.name
      if (name !== undefined) await stopSupervised(at(name), name, signal)
    },
    async forget(label) {
      const name = findByLabel(label)?.name
      if (name !== undefined) await removeSupervised(at(name), name, AbortSignal.timeout(FORGET_MS))
    },
    async isRunning(label) {
      const name = findByLabel(label)?.name
      return name !== undefined && (await findSupervisor(folder, name)) !== undefined
    },
    async hasResponded(label) {
      const name = findByLabel(label)?.name
      if (name === undefined) return false
      return !isDue(folder, name) || (await findSupervisor(folder, name)) !== undefined
    },
    async status(label) {
      const name = findByLabel(label)?.name
      if (name === undefined) return undefined
      const [status] = await readStatuses({ folder, only: name }, [label])
      return status && isDue(folder, name) && RESTING.has(status.state)
        ? { ...status, state: 'starting' }
        : status
    },
  }
}

/** Whether the last request has not been carried out yet: a task takes time to start. */
function isDue(folder: string, name: string): boolean {
  const desired = readDesired(folder, name)
  return desired !== undefined && desired.asked.id !== readRecord(folder, name)?.asked
}

/** Ends the service of a loop that was killed, since that loop can no longer do it. */
async function endLost(folder: string, name: string): Promise<void> {
  if (await findSupervisor(folder, name)) return
  const record = readRecord(folder, name)
  if (record === undefined) return
  const { pid, identity, mark } = record
  if (pid !== undefined && identity !== undefined && mark !== undefined) {
    await endService({ pid, identity, serviceTag: mark }, GRACE_MS)
  }
  writeRecord(folder, name, { ...record, state: 'stopped' })
}

const RESTING: ReadonlySet<ServiceStatus['state']> = new Set(['stopped', 'failed'])
const GRACE_MS = 30_000
const FORGET_MS = 40_000
