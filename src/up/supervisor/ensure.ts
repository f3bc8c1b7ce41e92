import { setTimeout as sleep } from 'node:timers/promises'
import { abortable } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { makePrivateDir } from '../../core/base/files.ts'
import { startDetached } from '../../core/process/start-detached.ts'
import type { ExitStatus } from '../../core/process/types.ts'
import type { ManagerCommand } from '../types.ts'
import { checkWritable, findSupervisor } from './record.ts'

/** How a supervisor is started. */
export interface SupervisorStart {
  /** servicesFolder() of the home. */
  folder: string
  command: ManagerCommand
  /** cleanEnvironment(). */
  env: Readonly<Record<string, string>>
  /** A directory that stays. */
  cwd: string
}

/**
 * Has a supervisor run, one that was there already or a new one, which outlives this process and its terminal. Fails with
 * `failed` when it ends at once, `storage` when it cannot say that it runs, `unavailable` when it does not come up in time.
 */
export async function ensureSupervisor(start: SupervisorStart, signal: AbortSignal): Promise<void> {
  const { folder, command, env, cwd } = start
  await makePrivateDir(folder)
  const deadline = performance.now() + START_MS
  let started: Promise<ExitStatus> | undefined
  for (let look = 1; !(await findSupervisor(folder)); look++) {
    if (look % LOOKS === 0) checkWritable(folder, WHAT)
    if (performance.now() > deadline) throw notUp()
    started ??= (await startDetached({ argv: command, cwd, env, name: 'crabup' })).exited
    const ended = await abortable(Promise.race([started, sleep(LOOK_MS)]), signal)
    if (!ended) continue
    checkWritable(folder, WHAT)
    if (ended.code !== 0) throw endedAtOnce(ended)
    started = undefined // another one was faster, and may be leaving: then ours is the next
    await sleep(LOOK_MS)
  }
}

function notUp(): CrabError {
  return new CrabError('unavailable', `${WHAT}: it does not answer`, {
    hint: 'see logs/supervisor.log in the home directory',
  })
}

function endedAtOnce({ code, signal }: ExitStatus): CrabError {
  return new CrabError('failed', `${WHAT}: it ended with ${code ?? signal}`, {
    hint: 'see what it says: crabtalk supervise',
  })
}

const WHAT = 'Cannot start the supervisor of services'
/** After so many looks something is wrong, and a full disk is what it may be. */
const LOOKS = 50
/** A busy machine starts a program slowly. */
const START_MS = 15_000
const LOOK_MS = 20
