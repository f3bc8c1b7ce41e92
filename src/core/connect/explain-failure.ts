import { toCancelledError } from '../base/abortable.ts'
import { CrabError, toCrabError } from '../base/errors.ts'
import type { Env } from '../provider/env.ts'
import type { ProviderConnection } from './connection.ts'

/**
 * Converts the failure of a first request to an error about the connection: the key was refused, the server
 * cannot be reached, or the proxy is in the way. Its hint names the next step.
 */
export function explainFailure(
  reason: unknown,
  connection: ProviderConnection,
  env: Env,
  signal: AbortSignal,
): CrabError {
  if (signal.aborted) return toCancelledError(signal)
  const { kind, message, hint } = toCrabError(reason)
  const { title, endpoint, keyPage } = connection
  const why = message.replace(/^Cannot call [^:]*: /, '').replace(/^Cannot /, 'cannot ')
  const proxy = findProxy(endpoint.baseUrl, env)
  if (proxy !== undefined && PROXY_REFUSAL.test(message)) {
    return new CrabError('unavailable', `Cannot connect ${title}: the proxy refused the connection: ${why}`, {
      hint: `check the proxy ${proxy.address} (${proxy.variable})`,
    })
  }
  switch (kind) {
    case 'credentials':
      return new CrabError(kind, `Cannot connect ${title}: the key was refused: ${why}`, {
        hint: (endpoint.aws && hint) ?? adviseKey(keyPage),
      })
    case 'unavailable':
    case 'timeout':
      return new CrabError(kind, `Cannot connect ${title}: ${why}`, {
        hint: proxy
          ? `check the network, or the proxy ${proxy.address} (${proxy.variable})`
          : 'check the network and the address',
      })
    default:
      return new CrabError(kind, `Cannot connect ${title}: ${why}`, hint === undefined ? {} : { hint })
  }
}

function adviseKey(keyPage: string | undefined): string {
  return keyPage === undefined ? 'check the key' : `check the key, or create one at ${keyPage}`
}

/** Returns the proxy for an address, without its credentials; undefined when the connection is direct. */
function findProxy(address: string, env: Env): { variable: string; address: string } | undefined {
  const url = new URL(address)
  const names = url.protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY']
  const variable = names.find((name) => env[name])
  const excluded = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').split(/[\s,]+/).filter(Boolean)
  const isExcluded = excluded.some(
    (host) => host === '*' || `.${url.hostname}`.endsWith(`.${host.replace(/^\./, '')}`),
  )
  if (variable === undefined || isExcluded) return undefined
  return { variable, address: URL.parse(env[variable]!)?.host ?? 'of the environment' }
}

const PROXY_REFUSAL = /\(407\)|tunnel|proxy auth/i
