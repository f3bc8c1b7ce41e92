import { CrabError } from '../../core/base/errors.ts'
import { ensureSupervisor } from '../supervisor/ensure.ts'
import { cleanEnvironment } from '../supervisor/environment.ts'
import {
  knownSpecs,
  removeKnown,
  restartWanted,
  type ServiceFolder,
  startWanted,
  statusOf,
  stopWanted,
} from '../supervisor/verbs.ts'
import { filesOf, servicesFolder, stopSteps } from '../supervisor/wanted.ts'
import type {
  ManagerCommand,
  ManagerPlace,
  ManagerVerb,
  ServiceManager,
  ServiceSpec,
  UpHost,
} from '../types.ts'

/**
 * Our own supervisor, for where the system has nothing that keeps services running: one process of this home in the
 * background. It has no units, and nothing starts at login: enable and disable fail with `unavailable`.
 */
export function supervisorManager(
  host: UpHost,
  { paths, program }: ManagerPlace,
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
  const nameOf = (label: string) => knownSpecs(folder).find((spec) => spec.label === label)?.name
  return {
    kind: 'supervisor',
    note,
    unit: () => undefined,
    commands: (verb, { name }) => [
      ...(STEPS[verb]?.(folder, name) ?? []),
      ...(STARTS.has(verb) ? [command] : []),
    ],
    start: (spec, signal) => startWanted(at, spec, signal),
    stop: ({ name }, signal) => stopWanted(at, name, signal),
    restart: (spec, signal) => restartWanted(at, spec, signal),
    enable: (spec) => Promise.reject(atLogin('Cannot have', spec, note)),
    disable: (spec) => Promise.reject(atLogin('Cannot keep', spec, note)),
    async remove(label, signal) {
      const name = nameOf(label)
      if (name !== undefined) await removeKnown(at, name, signal)
    },
    status: (labels) => statusOf(at, labels),
    labels: async () => knownSpecs(folder).map(({ label }) => label),
  }
}

/** What a verb does besides writing the file of a service and having a supervisor run. */
const STEPS: Partial<Record<ManagerVerb, (folder: string, name: string) => ManagerCommand[]>> = {
  stop: (folder, name) => [['mv', ...stopSteps(folder, name)]],
  remove: (folder, name) => [['rm', '-f', ...filesOf(folder, name)]],
}
const STARTS: ReadonlySet<ManagerVerb> = new Set(['start', 'restart'])

function atLogin(what: string, { name }: ServiceSpec, note: string | undefined): CrabError {
  const why = note ?? "crabup's own supervisor runs it, and nothing starts at login"
  return what === 'Cannot keep'
    ? new CrabError('unavailable', `Cannot keep ${name} from starting at login: ${why} anyway`, {
        hint: `to end it now: crabup ${name} stop`,
      })
    : new CrabError('unavailable', `Cannot have ${name} start at login: ${why}`, {
        hint: `put \`crabup ${name} start\` into what your shell or container runs when it starts`,
      })
}
