import { platform } from 'node:os'
import { runTool } from '../core/process/run-tool.ts'
import type { UpHost } from './types.ts'

/** What src/up takes of a command's host. */
export interface HostParts {
  readonly env: UpHost['env']
  readonly pid: number
  readonly uid: number
  readonly homeDir: string
}

/** The process of a command as src/up sees it. A system that is none of the three counts as Linux, which it is most like. */
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
