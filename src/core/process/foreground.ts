import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/**
 * Runs a program on this terminal until it exits, and returns its exit code, or 128 + n for a signal. Rejects
 * when the program cannot be spawned.
 */
export function runForeground(
  [command, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', env })
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']))
  })
}
