import type { HomePaths } from '../../core/config/paths.ts'
import type { UpHost } from '../types.ts'
import type { PackageFacts } from './facts.ts'
import type { InstalledService } from './installed.ts'
import type { NodeProgram } from './node-version.ts'
import type { Npm } from './npm.ts'

/** What installing packages needs of the rest. */
export interface PackagePorts {
  paths: Pick<HomePaths, 'packages' | 'run'>
  platform: UpHost['platform']
  pid: number
  /** Words that mean something else behind `crabup`. */
  reserved: ReadonlySet<string>
  now(): number
  /** The Node that services run on; undefined where they have none. */
  node(signal: AbortSignal): Promise<NodeProgram | undefined>
  /** Fails with `missing` where there is none. */
  npm(): Promise<Npm>
  /** Takes the right to change a component, across processes. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** Whether a process that lives has that right. */
  isLocked(resource: string): Promise<boolean>
  services: ServicePorts
  /** Shows what is to be installed, and asks where it must be asked. Fails with `denied`, or `usage` where nobody can be. */
  consent(offer: PackageOffer, signal: AbortSignal): Promise<void>
  /** Told what goes on now, as `Installing clock 1.2.0`. */
  step(text: string): void
}

/** The services that packages run as. */
export interface ServicePorts {
  /** Whether a service manager runs it, or tries to. */
  isRunning(name: string, signal: AbortSignal): Promise<boolean>
  /** Whether it ended by itself so often that it is not started any more. */
  hasFailed(name: string, signal: AbortSignal): Promise<boolean>
  /** Starts it anew and resolves when it answers. Fails with `unavailable` when it does not in time; it may still run then. */
  restart(name: string, signal: AbortSignal): Promise<void>
  /** Ends it and takes it away from the service manager; nothing happens when it is not there. */
  remove(name: string, signal: AbortSignal): Promise<void>
}

/** A package that is about to be installed. */
export interface PackageOffer {
  /** Under which it will run. */
  name: string
  facts: PackageFacts
  /** As it was named. */
  source: string
  origin: InstalledService['origin']
  /** What is there of that name now. */
  before: InstalledService | undefined
  /** Of our table, or an installed package whose publisher has not changed. */
  isTrusted: boolean
}

/** What became of a package. */
export interface PullResult {
  name: string
  package: string
  version: string
  /** The version that was there. */
  before: string | undefined
  /** Nothing was to be done. */
  isSame: boolean
  /** Its service runs with the new version. */
  wasRestarted: boolean
}

/** What is locked to change the component of a name. */
export function componentLockName(name: string): string {
  return `package:${name}`
}
