import type { HomePaths } from '../core/config/paths.ts'

/** A service as a service manager runs it. All values are literal, and none is secret. */
export interface ServiceSpec {
  /** The name of the service, such as `daemon`, `cron` or `clock`. */
  name: string
  /** The name of the service at the service manager. */
  label: string
  description: string
  /** The absolute program and its arguments. */
  argv: readonly [string, ...string[]]
  /** The absolute working directory. */
  cwd: string
  /** The variables `CRABTALK_HOME` and `PATH`; the environment file overrides them. */
  env: Readonly<Record<string, string>>
  /**
   * The absolute path of the environment file: `KEY=VALUE` lines, mode 0600. It need not exist, and is the
   * only place for secrets.
   */
  envFile: string
  /**
   * The source of a component's `envFile` and the variables it may have; absent for services that have all of
   * service.env.
   */
  grant?: EnvGrant & { from: string }
  /** The absolute path of the file to which its standard output and error are appended. */
  output: string
}

/** The variables of service.env that a component may have. */
export interface EnvGrant {
  /** The name of the component. */
  service: string
  /** The variables that its manifest asks for. */
  names: readonly string[]
}

/** The file that defines a service for a service manager. */
export interface UnitFile {
  /** The absolute path. */
  path: string
  content: Uint8Array
}

/** The status of a service at its service manager. */
export interface ServiceStatus {
  label: string
  /** Whether it has a unit. */
  isInstalled: boolean
  /** Whether it starts at login. */
  isEnabled: boolean
  /** `waiting`: it crashed and is about to be restarted; `failed`: it crashed and is not restarted any more. */
  state: 'running' | 'starting' | 'stopping' | 'waiting' | 'failed' | 'stopped'
  pid?: number
  /** The start time of this run, milliseconds since 1970. */
  since?: number
  /** The number of restarts after a crash since the last request. */
  restarts?: number
  /**
   * Set when it should run but its supervisor is gone: it is not restarted when it ends, or has ended
   * already.
   */
  isLost?: true
  /** The end of its last run. */
  lastExit?: { code: number | null; signal: string | null }
}

/** The service managers; `supervisor` is crabup's own. */
export type ManagerKind = 'systemd' | 'launchd' | 'schtasks' | 'supervisor'

/** A command of a service manager, as `--dry-run` shows it. */
export type ManagerCommand = readonly [string, ...string[]]

/** The verbs of which `--dry-run` can show the commands. */
export type ManagerVerb = 'start' | 'stop' | 'restart' | 'enable' | 'disable' | 'remove'

/**
 * A program that keeps services running. All verbs are idempotent. They throw `unavailable` when the service
 * manager cannot be reached, `credentials` when it requires more rights, and otherwise `failed` with its
 * output.
 */
export interface ServiceManager {
  readonly kind: ManagerKind
  /**
   * A clause that explains why it was chosen and what that means, such as `no systemd here, so nothing starts
   * at login`.
   */
  readonly note: string | undefined
  /** Returns the unit of a service, without writing it; undefined for a manager without units. */
  unit(spec: ServiceSpec): UnitFile | undefined
  /**
   * Returns the unit of the home's guard, which a start writes too; undefined for a manager that needs none.
   */
  guardUnit?(spec: ServiceSpec): UnitFile | undefined
  /** Returns the commands that a verb would run, in order. */
  commands(verb: ManagerVerb, spec: ServiceSpec): readonly ManagerCommand[]
  /**
   * Writes the unit if it differs, enables it at login, and starts it if it is not running. Does not wait
   * until it is ready.
   */
  start(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  /** Stops the service and resolves when its processes are gone; it still starts at login. */
  stop(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  /** Stops the service if it is running and starts it with the current unit. */
  restart(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  enable(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  /** Disables the start at login; a running service continues. */
  disable(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  /** Stops the service and removes its unit. */
  remove(label: string, signal: AbortSignal): Promise<void>
  /** Returns the statuses of the labels, in their order. */
  status(labels: readonly string[], signal: AbortSignal): Promise<ServiceStatus[]>
  /** Lists the labels of all crabtalk units, including those of other homes. */
  labels(signal: AbortSignal): Promise<string[]>
}

/**
 * Runs a system program to its end. `env` is its whole environment, by default that of this process; `stdout`
 * and `stderr` are text. Throws `missing` when the program does not exist.
 */
export type RunTool = (
  argv: ManagerCommand,
  options: { env?: Readonly<Record<string, string | undefined>>; stdin?: string; timeoutMs?: number },
  signal: AbortSignal,
) => Promise<{ code: number | null; stdout: string; stderr: string }>

/** The parts of its process that src/up may use. */
export interface UpHost {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: 'linux' | 'darwin' | 'win32'
  readonly pid: number
  readonly uid: number
  /** The user's home directory. */
  readonly homeDir: string
  run: RunTool
  now(): number
}

/** The home and the program that a manager works for. */
export interface ManagerContext {
  paths: HomePaths
  /** The command that starts this program again, without arguments: `(await host.build()).command`. */
  program: readonly [string, ...string[]]
}
