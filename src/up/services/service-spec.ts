import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { nearest } from '../../core/base/nearest.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { KNOWN_SERVICES, toServiceLabel } from '../names.ts'
import { ownEnvFile } from '../own-env.ts'
import { installedServices } from '../packages/installed.ts'
import type { EnvGrant, ServiceSpec, UpHost } from '../types.ts'

/** An existing service: built in or installed. */
export interface Service {
  name: string
  description: string
  /** The npm package and its version; absent for built-in services. */
  package?: string
  version?: string
  /** The way to run it: arguments of this program, an absolute script for Node, or an absolute program. */
  run: { words: readonly string[] } | { script: string } | { program: string }
  /** The variables of service.env that a component asks for. */
  variables?: readonly string[]
}

/** The parts of a unit that do not depend on the service. */
export interface SpecContext {
  paths: HomePaths
  /** The home that is used by default. */
  usualHome: string
  platform: UpHost['platform']
  /** The command that starts this program, without arguments; its path stays the same across updates. */
  program: readonly [string, ...string[]]
  /** The PATH of services. */
  path: string
  /** Whether the PATH comes from service.env instead of the shell. */
  hasOwnPath: boolean
  /** The absolute path of the Node on that PATH, for components. */
  node: string | undefined
  /** Whether service.env exists. */
  hasEnvFile: boolean
}

/** Lists all services of a home: the built-in ones, then the installed ones sorted by name. */
export function listServices(paths: Pick<HomePaths, 'packages'>): Service[] {
  const inside = KNOWN_SERVICES.flatMap(({ name, description, run }) =>
    run ? [{ name, description, run: { words: run } }] : [],
  )
  const installed = installedServices(paths).map(({ script, runsOnNode, variables, ...rest }) => ({
    ...{ name: rest.name, description: rest.description, package: rest.package, version: rest.version },
    ...{ run: runsOnNode ? { script } : { program: script }, variables },
  }))
  return [...inside, ...installed]
}

/** Finds a service by name. Throws `no-service` with a suggestion. */
export function findService(paths: Pick<HomePaths, 'packages'>, name: string): Service {
  const all = listServices(paths)
  const found = all.find((service) => service.name === name)
  if (found) return found
  const known = KNOWN_SERVICES.find((row) => row.name === name)
  if (known?.package) throw noService(name, `it is not installed`, `install it with: crabup pull ${name}`)
  if (known) throw noService(name, 'it runs when you open it', 'open it with: crabtalk')
  const near = nearest(
    name,
    [...all, ...KNOWN_SERVICES].map((one) => one.name),
  )
  const hint = near ? `did you mean "${near}"?` : `the services are ${all.map((one) => one.name).join(', ')}`
  throw noService(name, 'no service has that name', hint)
}

/**
 * Builds the spec of a service for its manager. Throws `no-service`, and `missing` when a component has no
 * Node.
 */
export function resolveSpec(name: string, context: SpecContext): ServiceSpec {
  return toSpec(findService(context.paths, name), context)
}

/** Builds the spec of a service that is already found, like resolveSpec(). */
export function toSpec(service: Service, context: SpecContext): ServiceSpec {
  const { paths, usualHome, path } = context
  const { name, description } = service
  const grant = toEnvGrant(service)
  return {
    name,
    label: toServiceLabel(name, { home: paths.home, usualHome }),
    description,
    argv: toArgv(service, context),
    cwd: paths.home,
    env: { CRABTALK_HOME: paths.home, PATH: path },
    envFile: grant ? ownEnvFile(paths, name) : paths.serviceEnv,
    ...(grant && { grant: { ...grant, from: paths.serviceEnv } }),
    output: join(paths.logs, `${name}.crash.log`),
  }
}

/**
 * Returns the variables of service.env that a component may have; undefined for built-in services, which have
 * all of them.
 */
export function toEnvGrant({ name, run, variables = [] }: Service): EnvGrant | undefined {
  return 'words' in run ? undefined : { service: name, names: variables }
}

/**
 * Builds the command. launchd has no environment files, so on macOS the service loads its own; and launchd
 * restarts any program that does not exit with 0, hence `--give-up`.
 */
function toArgv({ name, run }: Service, context: SpecContext): readonly [string, ...string[]] {
  const isDarwin = context.platform === 'darwin'
  if ('words' in run) {
    const file = isDarwin ? ['--env-file', context.paths.serviceEnv, '--give-up'] : []
    return [...context.program, ...run.words, ...file]
  }
  if ('program' in run) return [run.program]
  if (context.node === undefined) {
    throw new CrabError(
      'missing',
      `Cannot run ${name}: it is a script for Node, and no node is on the PATH of services`,
      {
        hint: 'install Node 20 or newer, or add its directory to the PATH, and start the service again',
      },
    )
  }
  // Node before 20.19 does not have this option, and other versions print a message when the file is missing.
  return [
    context.node,
    ...(isDarwin && context.hasEnvFile ? [`--env-file=${ownEnvFile(context.paths, name)}`] : []),
    run.script,
  ]
}

function noService(name: string, why: string, hint: string): CrabError {
  return new CrabError('no-service', `Cannot use the service "${name}": ${why}`, { hint })
}
