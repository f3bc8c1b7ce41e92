import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getErrorCode } from '../base/system-error.ts'
import { startError } from './spawn-child.ts'
import type { ExitStatus } from './types.ts'

/** A program that outlives who started it. */
export interface DetachedProcess {
  readonly pid: number
  /** Resolves when it ends while this process still runs; it keeps no process alive. */
  readonly exited: Promise<ExitStatus>
}

/** What to start. */
export interface DetachedCommand {
  argv: readonly [string, ...string[]]
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  /** What the program is to take for its own name; by default what it is started by. */
  name?: string
  /** A descriptor for what it writes to standard output and error; by default nobody reads it. */
  output?: number
}

/** Starts a program in a session of its own, with nothing to read. Fails with `failed`. */
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
