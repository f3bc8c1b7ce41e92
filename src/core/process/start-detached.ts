import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getErrorCode } from '../base/system-error.ts'
import { startError } from './spawn-child.ts'
import type { ExitStatus } from './types.ts'

/** A program that outlives the process that started it. */
export interface DetachedProcess {
  readonly pid: number
  /** Resolves when it exits while this process still runs. It does not keep this process alive. */
  readonly exited: Promise<ExitStatus>
}

/** The command to start. */
export interface DetachedCommand {
  argv: readonly [string, ...string[]]
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  /** The program's argv[0]; by default the path it is started by. */
  name?: string
  /** A descriptor for standard output and error; by default both are discarded. */
  output?: number
}

/** Starts a program in its own session, without standard input. Throws `failed`. */
export async function startDetached({
  argv,
  cwd,
  env,
  name = argv[0],
  output,
}: DetachedCommand): Promise<DetachedProcess> {
  const [file, ...args] = argv
  try {
    const child = spawn(file, args, {
      cwd,
      env,
      argv0: name,
      detached: true,
      stdio: output === undefined ? 'ignore' : ['ignore', output, output],
      windowsHide: true,
    })
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    child.unref()
    const exited = new Promise<ExitStatus>((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal })),
    )
    return { pid: child.pid, exited }
  } catch (reason) {
    throw startError(name, getErrorCode(reason), reason)
  }
}
