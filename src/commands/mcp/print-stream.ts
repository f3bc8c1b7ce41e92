import type { Host } from '../../cli/host.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { StopController } from '../../cli/stop-controller.ts'
import { toCrabError } from '../../core/base/errors.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'

/**
 * Prints lines of the daemon as they arrive, until a signal, their reader, or the daemon ends it; returns the
 * exit code, which is 130 for Ctrl-C. Throws `unavailable` when no daemon is running, and the errors that the
 * daemon reports.
 */
export async function printStream(
  host: Host,
  lines: (dispatch: Dispatch, signal: AbortSignal) => AsyncIterable<string>,
): Promise<number> {
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  try {
    await using attached = await requireDaemon(host, { task: 'follow MCP servers' }, stop.signal)
    for await (const line of lines(attached.dispatch, stop.signal)) await host.stdout.write(`${line}\n`)
    return 0
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    await host.stdout.flush()
    return stop.exit
  }
}
