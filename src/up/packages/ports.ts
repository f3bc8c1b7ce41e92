import type { HomePaths } from '../../core/config/paths.ts'
import type { UpHost } from '../types.ts'
import type { PackageFacts } from './facts.ts'
import type { InstalledService } from './installed.ts'
import type { NodeProgram } from './node-programs.ts'
import type { Npm } from './npm.ts'

/** The ports of package installation. */
export interface PackagePorts {
  paths: Pick<HomePaths, 'packages' | 'run'>
  platform: UpHost['platform']
  pid: number
  /** Words that already have a meaning after `crabup`. */
  reserved: ReadonlySet<string>
  now(): number
  /** Returns the Node that services run on; undefined when there is none. */
  node(signal: AbortSignal): Promise<NodeProgram | undefined>
  /** Returns npm. Throws `missing` when there is none. */
  npm(): Promise<Npm>
  /** Acquires the right to change a component, across processes. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** Whether a living process holds the lock. */
  isLocked(resource: string): Promise<boolean>
  services: ServicePorts
  /**
   * Shows what is to be installed and asks for confirmation when it is required. Throws `denied`, or `usage`
   * when it cannot ask.
   */
  consent(offer: PackageOffer, signal: AbortSignal): Promise<void>
  /** Reports the current step, such as `Installing clock 1.2.0`. */
  step(text: string): void
}

/** The services that packages run as. */
export interface ServicePorts {
  /** Whether a service manager runs the service or is trying to. */
  isRunning(name: string, signal: AbortSignal): Promise<boolean>
  /** Whether the service crashed so often that it is no longer restarted. */
  hasFailed(name: string, signal: AbortSignal): Promise<boolean>
  /**
   * Restarts the service and resolves when it answers. Throws `unavailable` when it does not answer in time;
   * it may still be running then.
   */
  restart(name: string, signal: AbortSignal): Promise<void>
  /** Stops the service and removes it from the service manager; does nothing when it is not there. */
  remove(name: string, signal: AbortSignal): Promise<void>
}

/** A package that is about to be installed. */
export interface PackageOffer {
  /** The name under which it will run. */
  name: string
  facts: PackageFacts
  /** The source as the user named it. */
  source: string
  origin: InstalledService['origin']
  /** The installed component of that name. */
  before: InstalledService | undefined
  /**
   * Whether the package is in crabup's table, or is installed already with the same publisher and asks for no
   * new variables.
   */
  isTrusted: boolean
}

/** The result of a pull. */
export interface PullResult {
  name: string
  package: string
  version: string
  /** The previously installed version. */
  before: string | undefined
  /** Whether there was nothing to do. */
  isSame: boolean
  /** Whether its service now runs the new version. */
  wasRestarted: boolean
}

/** Returns the name of the lock on a component. */
export function componentLockName(name: string): string {
  return `package:${name}`
}
