import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Finished, RunOptions, Sandbox } from './run-binary.ts'
import { until } from './until.ts'

/** The daemon of a sandbox, as a process of the tested program. */
export interface SandboxDaemon extends AsyncDisposable {
  readonly pid: number
  readonly finished: Promise<Finished>
  kill(signal: NodeJS.Signals): void
}

/** The environment for commands that should use the daemon. */
export const WITH_DAEMON = { CRABTALK_NO_DAEMON: undefined }

/** Starts a daemon and waits until it listens; disposing ends it, which must succeed. */
export async function startSandboxDaemon(
  box: Sandbox,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<SandboxDaemon> {
  const running = box.start(['daemon', 'run', ...args], options)
  const pid = running.child.pid!
  const ended: Finished[] = []
  void running.finished.then((finished) => ended.push(finished))
  const socket = join(box.home, 'run', 'crabtalk.sock')
  await until('the daemon listens', () => ended.length > 0 || existsSync(socket))
  assert.deepEqual(ended, [])
  const kill = (signal: NodeJS.Signals) => {
    if (running.child.exitCode === null && running.child.signalCode === null) process.kill(pid, signal)
  }
  return {
    pid,
    finished: running.finished,
    kill,
    async [Symbol.asyncDispose]() {
      kill('SIGTERM')
      await running.finished
    },
  }
}
