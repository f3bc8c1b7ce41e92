import { CrabError } from '../../core/base/errors.ts'
import type { Config } from '../../core/config/config.ts'

/** Lets a daemon serve TCP clients that show no token, when it is 1. */
export const ALLOW_OPEN_TCP = 'CRABTALK_ALLOW_TCP_WITHOUT_TOKEN'

/** The warning for a daemon that serves TCP clients without a token. */
export const OPEN_TCP_WARNING =
  'tcp_token = false: every program and every user of this machine can talk to your agents over TCP'

/** The hint that goes with the warning. */
export const OPEN_TCP_HINT =
  'remove tcp_token from [daemon] in config.toml, and create a token for each client: crabtalk token new NAME'

/**
 * Returns whether TCP clients need no token. Throws `config` when config.toml says so but the environment
 * does not: one forgotten line must not open a machine.
 */
export function isTcpOpen(
  { tcpToken }: Config['daemon'],
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (tcpToken) return false
  if (env[ALLOW_OPEN_TCP] === '1') return true
  throw new CrabError(
    'config',
    'Cannot listen on TCP: with tcp_token = false every user of this machine could talk to your agents',
    {
      hint: `${OPEN_TCP_HINT}; or set ${ALLOW_OPEN_TCP}=1 (for a service in service.env) if that is what you want`,
    },
  )
}
