import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { findAddress } from '../../cli/conversation-address.ts'
import { parseCount } from '../../cli/duration.ts'
import type { Host } from '../../cli/host.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { StopController } from '../../cli/stop-controller.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { printConversation } from './follow.ts'
import { JsonView } from './json-view.ts'
import { TextView } from './text-view.ts'

/**
 * Runs `crabtalk tail`: prints a conversation as it continues, until a signal, its reader, or the daemon ends
 * it.
 */
export const tailConversationCommand: CommandHandler = ({ options, host }) => followToEnd(options, host)

/**
 * Follows the conversation that the options name, and returns the exit code. Throws what keeps it from doing
 * so.
 */
export async function followToEnd(options: ParsedOptions, host: Host): Promise<number> {
  const lines = parseCount('lines', options.value('lines') ?? DEFAULT_LINES)
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  const { signal } = stop
  try {
    await using attached = await requireDaemon(host, { task: 'follow the conversation', start: true }, signal)
    const { dispatch } = attached
    const address = await findAddress({ options, host }, dispatch, signal)
    const { stdout } = host
    const view = options.has('json')
      ? new JsonView({ stdout, address, now: () => performance.now() })
      : new TextView({ stdout, address })
    await printConversation({ dispatch, address, lines, view }, signal)
    return 0
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    await host.stdout.flush()
    return stop.exit
  }
}

const DEFAULT_LINES = '10'
