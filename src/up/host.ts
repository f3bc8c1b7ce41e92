import { platform } from 'node:os'
import { runTool } from '../core/process/run-tool.ts'
import type { UpHost } from './types.ts'

/** The parts of a command's host that src/up uses. */
export interface HostParts {
  readonly env: UpHost['env']
  readonly pid: number
  readonly uid: number
  readonly homeDir: string
}

/** The shell in which a command of crabup runs: what its services take over from it. */
export interface ShellHost extends HostParts {
  cwd(): string
  build(): Promise<ShellBuild>
}

/** The running program. */
export interface ShellBuild {
  /** The command that starts it again, without arguments. */
  command: readonly [string, ...string[]]
  /** Whether it is one file; otherwise it runs from source. */
  isOneFile: boolean
}

/**
 * Converts the host of a command to the one that src/up uses. A platform other than macOS and Windows counts
 * as Linux, its closest relative.
 */
export function toUpHost({ env, pid, uid, homeDir }: HostParts): UpHost {
  const system = platform()
  return {
    env,
    pid,
    uid,
    homeDir,
    platform: system === 'darwin' || system === 'win32' ? system : 'linux',
    run: (argv, options, signal) => runTool(argv, { ...options, env: options.env ?? env }, signal),
    now: () => Date.now(),
  }
}
