import { findSupervisor } from '../supervisor/record.ts'
import { knownSpecs, removeKnown, type ServiceFolder, statusOf, stopWanted } from '../supervisor/verbs.ts'
import { ask, servicesFolder, wantService } from '../supervisor/wanted.ts'
import type { ManagerCommand, ManagerPlace, ServiceSpec, ServiceStatus } from '../types.ts'

/** The loop of one service, which a scheduled task of Windows runs. */
export interface TaskLoop {
  /** What the task runs; it names its home, for a task cannot set variables. */
  command(spec: Pick<ServiceSpec, 'name'>): ManagerCommand
  /** Writes what the loop is to run, before the task runs. */
  want(spec: ServiceSpec): Promise<void>
  /** Has the loop end its service and itself, and resolves when that is so. */
  end(label: string, signal: AbortSignal): Promise<void>
  /** Removes the files of a service, and ends it if it runs. */
  forget(label: string): Promise<void>
  /** Undefined when no loop runs. */
  status(label: string): Promise<Omit<ServiceStatus, 'label' | 'isInstalled' | 'isEnabled'> | undefined>
}

/** Opens it for a home: `supervise NAME` reads the same files that our own supervisor reads for all services. */
export function taskLoop({ paths, program }: ManagerPlace): TaskLoop {
  const folder = servicesFolder(paths)
  const specOf = (label: string) => knownSpecs(folder).find((spec) => spec.label === label)
  const at = (name: string): ServiceFolder => ({ folder, only: name, ensure: async () => undefined })
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
    async status(label) {
      const name = specOf(label)?.name
      if (name === undefined || !(await findSupervisor(folder, name))) return undefined
      const [status] = await statusOf({ folder, only: name }, [label])
      return status
    },
  }
}

const FORGET_MS = 40_000
