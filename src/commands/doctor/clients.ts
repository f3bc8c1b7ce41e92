import { toCrabError } from '../../core/base/errors.ts'
import type { Config } from '../../core/config/config.ts'
import { readToken } from '../../core/transport/token.ts'
import { ALLOW_OPEN_TCP, OPEN_TCP_HINT, OPEN_TCP_WARNING } from '../../daemon/tcp/open-tcp.ts'
import { type CheckContext, type CheckResult, warning } from './check.ts'

/** Reports TCP clients that need no token, and a token that other users may know. */
export async function clientFindings(
  { paths, host }: Pick<CheckContext, 'paths' | 'host'>,
  daemon: Config['daemon'] | undefined,
): Promise<CheckResult[]> {
  if (daemon?.tcpToken === false) {
    const message = host.env[ALLOW_OPEN_TCP] === '1' ? OPEN_TCP_WARNING : REFUSED_TCP_WARNING
    return [warning(message, OPEN_TCP_HINT)]
  }
  try {
    await readToken(paths.run)
    return []
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    return kind === 'missing' ? [] : [warning(message, hint)] // most homes have none
  }
}

const REFUSED_TCP_WARNING = `tcp_token = false: a daemon without ${ALLOW_OPEN_TCP}=1 refuses to start`
