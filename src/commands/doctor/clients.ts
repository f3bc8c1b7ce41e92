import { toCrabError } from '../../core/base/errors.ts'
import type { Config } from '../../core/config/config.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { readToken } from '../../core/transport/token.ts'
import { OPEN_TCP_HINT, OPEN_TCP_WARNING } from '../../daemon/tcp/open-tcp.ts'
import { type Finding, warning } from './check.ts'

/** Looks for TCP clients that need no token, and for a token that other users may know. */
export async function clientFindings(
  { run }: HomePaths,
  daemon: Config['daemon'] | undefined,
): Promise<Finding[]> {
  if (daemon?.tcpToken === false) return [warning(OPEN_TCP_WARNING, OPEN_TCP_HINT)]
  try {
    await readToken(run)
    return []
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    return kind === 'missing' ? [] : [warning(message, hint)] // most homes have none
  }
}
