import { CrabError } from '../core/base/errors.ts'
import { type Attached, attach } from '../daemon/attach.ts'
import type { Host } from './host.ts'

/**
 * Connects to the daemon of this home, for commands that run no turn. Throws `unavailable` when none is
 * running; with `start`, one is started first unless the user opted out. `task` is the verb and object of the
 * error.
 */
export async function requireDaemon(
  host: Host,
  { task, start = false }: { task: string; start?: boolean },
  signal: AbortSignal,
): Promise<Attached> {
  try {
    return await attach(host, { daemon: 'only', task, signal })
  } catch (reason) {
    const isMissing = reason instanceof CrabError && reason.kind === 'unavailable'
    if (!start || !isMissing || host.withoutDaemon) throw reason
    return await attach(host, { daemon: 'need', task, signal })
  }
}
