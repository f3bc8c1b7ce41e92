import { join } from 'node:path'
import { CrabError } from '../core/base/errors.ts'
import { nearest } from '../core/base/nearest.ts'
import type { HomePaths } from '../core/config/paths.ts'
import { KNOWN_SERVICES, toServiceLabel } from './names.ts'
import { ownEnvFile } from './own-env.ts'
import { installedServices } from './packages/installed.ts'
import type { EnvGrant, ServiceSpec, UpHost } from './types.ts'

/** A service there is: inside this program, or installed. */
export interface Service {
  name: string
  description: string
  /** The npm package it comes in, and which version of it; absent for what is inside this program. */
  package?: string
  version?: string
  /** The words behind this program that run it, or a script for Node, or a program; the latter two absolute. */
  run: { words: readonly string[] } | { script: string } | { program: string }
  /** The variables of service.env that a component asks for. */
  variables?: readonly string[]
}

/** What a unit says besides what the service is. */
export interface SpecContext {
  paths: HomePaths
  /** Where a home is when nobody says otherwise. */
  usualHome: string
  platform: UpHost['platform']
  /** What starts this program, without arguments of its own; by a path that stays when the program is updated. */
  program: readonly [string, ...string[]]
  /** The PATH of services. */
  path: string
  /** Whether service.env says it, and no shell. */
  hasOwnPath: boolean
  /** The Node that is on it, absolute, for components. */
  node: string | undefined
  /** Whether there is a service.env. */
  hasEnvFile: boolean
}

/** All services of a home: what is inside this program, then what is installed, by name. */
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

/** The service of that name. Fails with `no-service`, and says what may have been meant. */
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
  const hint = near ? `did you mean "${near}"?` : `there are ${all.map((one) => one.name).join(', ')}`
  throw noService(name, 'there is none of that name', hint)
}

/** A service as a service manager is to run it. Fails with `no-service`, and with `missing` where a component has no Node. */
export function resolveSpec(name: string, place: SpecContext): ServiceSpec {
  return toSpec(findService(place.paths, name), place)
}

/** As resolveSpec(), of a service that was found. */
export function toSpec(service: Service, place: SpecContext): ServiceSpec {
  const { paths, usualHome, path } = place
  const { name, description } = service
  const grant = toEnvGrant(service)
  return {
    name,
    label: toServiceLabel(name, { home: paths.home, usualHome }),
    description,
    argv: toArgv(service, place),
    cwd: paths.home,
    env: { CRABTALK_HOME: paths.home, PATH: path },
    envFile: grant ? ownEnvFile(paths, name) : serviceEnvPath(paths),
    ...(grant && { grant: { ...grant, from: serviceEnvPath(paths) } }),
    output: join(paths.logs, `${name}.crash.log`),
  }
}

/** Returns the variables of service.env that a component may have; undefined for services inside this program, which have all. */
export function toEnvGrant({ name, run, variables = [] }: Service): EnvGrant | undefined {
  return 'words' in run ? undefined : { service: name, names: variables }
}

/** Where the secrets of services are. */
export function serviceEnvPath({ serviceEnv }: Pick<HomePaths, 'serviceEnv'>): string {
  return serviceEnv
}

/** launchd knows no file of variables: there a service reads it itself. And it starts again whatever does not end with 0. */
function toArgv({ name, run }: Service, place: SpecContext): readonly [string, ...string[]] {
  const isDarwin = place.platform === 'darwin'
  if ('words' in run) {
    const file = isDarwin ? ['--env-file', serviceEnvPath(place.paths), '--give-up'] : []
    return [...place.program, ...run.words, ...file]
  }
  if ('program' in run) return [run.program]
  if (place.node === undefined) {
    throw new CrabError(
      'missing',
      `Cannot run ${name}: it is a script for Node, and no node is on the PATH of services`,
      {
        hint: 'install Node 20 or newer, or add its directory to the PATH, and start the service again',
      },
    )
  }
  // A Node of before 20.19 knows no such option, and others mention a file that is missing.
  return [
    place.node,
    ...(isDarwin && place.hasEnvFile ? [`--env-file=${ownEnvFile(place.paths, name)}`] : []),
    run.script,
  ]
}

function noService(name: string, why: string, hint: string): CrabError {
  return new CrabError('no-service', `Cannot use the service "${name}": ${why}`, { hint })
}
