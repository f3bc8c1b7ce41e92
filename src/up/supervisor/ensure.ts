import { setTimeout as sleep } from 'node:timers/promises'
import { abortable } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { makePrivateDir } from '../../core/base/files.ts'
import { startDetached } from '../../core/process/start-detached.ts'
import type { ExitStatus } from '../../core/process/types.ts'
import type { ManagerCommand } from '../types.ts'
import { checkWritable, findSupervisor } from './record.ts'

/** The options of ensureSupervisor(). */
export interface SupervisorStart {
  /** The result of servicesFolder() for the home. */
  folder: string
  command: ManagerCommand
  /** The result of cleanEnvironment(). */
  env: Readonly<Record<string, string>>
  /** A working directory that will not be removed. */
  cwd: string
}

/**
 * Resolves when a supervisor is running: an existing one, or a new one that outlives this process and its
 * terminal. Throws `failed` when it exits immediately, `storage` when it cannot write its record, and
 * `unavailable` when it does not come up in time.
 */
export async function ensureSupervisor(start: SupervisorStart, signal: AbortSignal): Promise<void> {
  const { folder, command, env, cwd } = start
  await makePrivateDir(folder)
  const deadline = performance.now() + START_MS
  let started: Promise<ExitStatus> | undefined
  for (let look = 1; !(await findSupervisor(folder)); look++) {
    if (look % LOOKS === 0) checkWritable(folder, WHAT)
    if (performance.now() > deadline) throw timeoutError()
    started ??= (await startDetached({ argv: command, cwd, env, name: 'crabup' })).exited
    const ended = await abortable(Promise.race([started, sleep(LOOK_MS)]), signal)
    if (!ended) continue
    checkWritable(folder, WHAT)
    if (ended.code !== 0) throw earlyExitError(ended)
    started = undefined // another supervisor was faster but may be exiting: try again
    await sleep(LOOK_MS)
  }
}

function timeoutError(): CrabError {
  return new CrabError('unavailable', `${WHAT}: it does not answer`, {
    hint: 'see logs/supervisor.log in the home directory',
  })
}

function earlyExitError({ code, signal }: ExitStatus): CrabError {
  return new CrabError('failed', `${WHAT}: it ended with ${code ?? signal}`, {
    hint: 'run it to see why: crabtalk supervise',
  })
}

const WHAT = 'Cannot start the service supervisor'
/** The number of polls after which a full disk is suspected and checked for. */
const LOOKS = 50
/** Generous, because a busy machine starts programs slowly. */
const START_MS = 15_000
const LOOK_MS = 20
