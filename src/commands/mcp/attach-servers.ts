import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import { type Attached, attach } from '../../daemon/attach.ts'

/**
 * Attaches to the daemon if one is running, whichever models it has, because no turn is run; else to this
 * process.
 */
export async function attachServers(host: Host, signal: AbortSignal): Promise<Attached> {
  try {
    return await attach(host, { daemon: 'only', signal })
  } catch (reason) {
    const isMissing = reason instanceof CrabError && reason.kind === 'unavailable'
    if (!isMissing || signal.aborted) throw reason
    return await attach(host, { signal })
  }
}
