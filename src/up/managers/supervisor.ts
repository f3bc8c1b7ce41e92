import { CrabError } from '../../core/base/errors.ts'
import { serviceFiles, servicesFolder, stopSteps } from '../supervisor/desired-state.ts'
import { ensureSupervisor } from '../supervisor/ensure.ts'
import { cleanEnvironment } from '../supervisor/environment.ts'
import {
  listSpecs,
  readStatuses,
  removeSupervised,
  restartSupervised,
  type ServiceFolder,
  startSupervised,
  stopSupervised,
} from '../supervisor/verbs.ts'
import type {
  ManagerCommand,
  ManagerContext,
  ManagerVerb,
  ServiceManager,
  ServiceSpec,
  UpHost,
} from '../types.ts'

/**
 * Builds crabup's own supervisor, for systems without a service manager: one background process for this
 * home. It has no units and cannot start services at login: enable and disable reject with `unavailable`.
 */
export function supervisorManager(
  host: UpHost,
  { paths, program }: ManagerContext,
  note: string | undefined,
): ServiceManager {
  const command = [...program, 'supervise', '--home', paths.home] as const
  const folder = servicesFolder(paths)
  const at: ServiceFolder = {
    folder,
    ensure: (signal) => {
      const env = { ...cleanEnvironment(host.env, host.platform), CRABTALK_HOME: paths.home }
      return ensureSupervisor(
        { folder, command, env, cwd: host.platform === 'win32' ? host.homeDir : '/' },
        signal,
      )
    },
  }
  const findName = (label: string) => listSpecs(folder).find((spec) => spec.label === label)?.name
  return {
    kind: 'supervisor',
    note,
    unit: () => undefined,
    commands: (verb, { name }) => [
      ...(STEPS[verb]?.(folder, name) ?? []),
      ...(STARTS.has(verb) ? [command] : []),
    ],
    start: (spec, signal) => startSupervised(at, spec, signal),
    stop: ({ name }, signal) => stopSupervised(at, name, signal),
    restart: (spec, signal) => restartSupervised(at, spec, signal),
    enable: (spec) => Promise.reject(loginUnsupported('Cannot have', spec, note)),
    disable: (spec) => Promise.reject(loginUnsupported('Cannot keep', spec, note)),
    async remove(label, signal) {
      const name = findName(label)
      if (name !== undefined) await removeSupervised(at, name, signal)
    },
    status: (labels) => readStatuses(at, labels),
    labels: async () => listSpecs(folder).map(({ label }) => label),
  }
}

/** The steps of a verb besides writing the file of a service and starting a supervisor. */
const STEPS: Partial<Record<ManagerVerb, (folder: string, name: string) => ManagerCommand[]>> = {
  stop: (folder, name) => [['mv', ...stopSteps(folder, name)]],
  remove: (folder, name) => [['rm', '-f', ...serviceFiles(folder, name)]],
}
const STARTS: ReadonlySet<ManagerVerb> = new Set(['start', 'restart'])

function loginUnsupported(what: string, { name }: ServiceSpec, note: string | undefined): CrabError {
  const why = note ?? "crabup's own supervisor runs it, and nothing starts at login"
  return what === 'Cannot keep'
    ? new CrabError('unavailable', `Cannot keep ${name} from starting at login: ${why} anyway`, {
        hint: `to end it now: crabup ${name} stop`,
      })
    : new CrabError('unavailable', `Cannot start ${name} at login: ${why}`, {
        hint: `run crabup ${name} start from your shell profile, or when your container starts`,
      })
}
