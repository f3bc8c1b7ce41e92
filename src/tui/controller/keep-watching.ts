import { setTimeout as sleep } from 'node:timers/promises'
import { toCrabError } from '../../core/base/errors.ts'

/**
 * Runs a watch again, some time after it ended or failed, until the signal aborts. Ends with a daemon that does not
 * know the operation.
 */
export async function keepWatching(watch: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const reason: unknown = await watch().catch((thrown: unknown) => thrown)
    if (reason !== undefined && toCrabError(reason).kind === 'invalid') return
    await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined) // aborted
  }
}

const PAUSE_MS = 2_000
