import type { HomePaths } from '../core/config/paths.ts'

/** A service as a service manager runs it; all of it is literal, and none of it secret. */
export interface ServiceSpec {
  /** What people call it: `daemon`, `cron`, `clock`. */
  name: string
  /** What the service manager calls it. */
  label: string
  description: string
  /** The program, absolute, and its arguments. */
  argv: readonly [string, ...string[]]
  /** Absolute. */
  cwd: string
  /** Laid under what the service manager gives: `CRABTALK_HOME` and `PATH`. */
  env: Readonly<Record<string, string>>
  /** `KEY=VALUE` lines, mode 0600, which need not exist: the only place for secrets. Absolute. */
  envFile: string
  /** The source of a component's `envFile` and the variables it may have; absent for services that have all of service.env. */
  grant?: EnvGrant & { from: string }
  /** What it writes to standard output and error is appended here. Absolute. */
  output: string
}

/** The variables of service.env that a component may have. */
export interface EnvGrant {
  /** The component's name. */
  service: string
  /** The variables that its manifest asks for. */
  names: readonly string[]
}

/** The file by which a service manager knows a service. */
export interface UnitFile {
  /** Absolute. */
  path: string
  content: Uint8Array
}

/** What a service manager knows of a service. */
export interface ServiceStatus {
  label: string
  /** Whether there is a unit of it. */
  isInstalled: boolean
  /** Whether it starts at login. */
  isEnabled: boolean
  /** `waiting`: it crashed and is about to be started again; `failed`: it crashed and is not started any more. */
  state: 'running' | 'starting' | 'stopping' | 'waiting' | 'failed' | 'stopped'
  pid?: number
  /** When this run began, milliseconds since 1970. */
  since?: number
  /** How often it was started again after a crash, since somebody started it. */
  restarts?: number
  /** It is to run and nothing looks after it: when it ends, or has ended, nobody starts it again. */
  isLost?: true
  /** How its last run ended. */
  lastExit?: { code: number | null; signal: string | null }
}

export type ManagerKind = 'systemd' | 'launchd' | 'schtasks' | 'supervisor'

/** A step of a service manager, as `--dry-run` shows it. */
export type ManagerCommand = readonly [string, ...string[]]

/** What `--dry-run` can show. */
export type ManagerVerb = 'start' | 'stop' | 'restart' | 'enable' | 'disable' | 'remove'

/**
 * One of the things that keep services running. Every verb may be repeated. They fail with `unavailable` when the service
 * manager cannot be reached, `credentials` when it needs more rights, `failed` with what it said otherwise.
 */
export interface ServiceManager {
  readonly kind: ManagerKind
  /** Why it was chosen, and what that means, as a clause: `no systemd here, so nothing starts at login`. */
  readonly note: string | undefined
  /** The unit that stands there or would be written; undefined for a manager that has none. */
  unit(spec: ServiceSpec): UnitFile | undefined
  /** The unit of the guard of its home, which would be written too; undefined for a manager that needs none. */
  guardUnit?(spec: ServiceSpec): UnitFile | undefined
  /** What a verb would run, in order. */
  commands(verb: ManagerVerb, spec: ServiceSpec): readonly ManagerCommand[]
  /** Writes the unit if it differs, has it start at login, and starts it now if it does not run. Does not wait until it is ready. */
  start(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  /** Ends it, and resolves when its processes are gone; it starts again at login. */
  stop(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  /** Ends it if it runs and starts it with the unit as it is to be now. */
  restart(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  enable(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  /** It runs on; it does not start at login. */
  disable(spec: ServiceSpec, signal: AbortSignal): Promise<void>
  /** Ends it and removes its unit. */
  remove(label: string, signal: AbortSignal): Promise<void>
  /** Of those labels, in their order. */
  status(labels: readonly string[], signal: AbortSignal): Promise<ServiceStatus[]>
  /** The labels of all units of ours it has, those of other homes too. */
  labels(signal: AbortSignal): Promise<string[]>
}

/** Runs a program of the system to its end, with this whole environment, by default that of this process; `stdout` and `stderr` are text. Fails with `missing` when there is no such program. */
export type RunTool = (
  argv: ManagerCommand,
  options: { env?: Readonly<Record<string, string | undefined>>; stdin?: string; timeoutMs?: number },
  signal: AbortSignal,
) => Promise<{ code: number | null; stdout: string; stderr: string }>

/** What src/up may use of the process it runs in. */
export interface UpHost {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: 'linux' | 'darwin' | 'win32'
  readonly pid: number
  readonly uid: number
  /** The person's own directory. */
  readonly homeDir: string
  run: RunTool
  now(): number
}

/** What managers know of the place they work for. */
export interface ManagerContext {
  paths: HomePaths
  /** What starts this program again, without arguments of its own: `(await host.build()).command`. */
  program: readonly [string, ...string[]]
}
