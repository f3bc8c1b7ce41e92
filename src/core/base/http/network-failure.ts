import { CrabError } from '../errors.ts'
import { collapseBlanks } from '../sanitize.ts'

/** The hint for a failure of a proxy. */
export const PROXY_HINT = 'check HTTPS_PROXY and HTTP_PROXY; NO_PROXY lists the hosts that need no proxy'

/** A failure of the network, or of a request that cannot be sent. */
export interface NetworkFailure {
  error: Error
  /** The code of the system or of Node, such as `ECONNREFUSED`. */
  code: string
  /** The reason as the end of a sentence; it names the proxy if that is what failed. */
  reason: string
  /** Whether a proxy failed, so that the server was not reached. */
  isProxy: boolean
  /** Whether the request itself is wrong: a header with a line break, say. Then nothing was sent. */
  isInvalidRequest: boolean
  /** Whether another attempt fails in the same way: the server speaks another protocol, or its certificate is not valid. */
  isLasting: boolean
}

/**
 * Describes a failure of the network on the way to `url`; undefined for a CrabError and for bugs of this
 * program.
 */
export function toNetworkFailure(error: unknown, url: URL): NetworkFailure | undefined {
  const found = readNetworkCode(error)
  if (!(error instanceof Error) || error instanceof CrabError || found === '') return undefined
  const code = found === 'EPROTO' && NO_TLS.test(error.message) ? 'ERR_SSL_WRONG_VERSION_NUMBER' : found
  const proxy = findProxy(error, url)
  const reason = REASONS[code] ?? shortenMessage(error, code)
  return {
    error,
    code,
    reason: proxy === undefined ? reason : `${proxy}: ${reason}`,
    isProxy: proxy !== undefined,
    isInvalidRequest: /^ERR_(?:INVALID|UNESCAPED)_/.test(code),
    isLasting: LASTING.test(code),
  }
}

/** Returns the error code of an attempt, or of the first of several attempts at the addresses of a host. */
export function readNetworkCode(error: unknown): string {
  const { code, errors } = (error ?? {}) as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }
  return code ?? errors?.[0]?.code ?? ''
}

/** Names the proxy when the failed connection was not to the host and port of the address. */
function findProxy(error: Error, url: URL): string | undefined {
  const { code = '', hostname, port, address } = toFirstAttempt(error)
  if (code.startsWith('ERR_PROXY')) return 'the proxy refused'
  const ownHost = url.hostname.replace(/^\[|\]$/g, '')
  const ownPort = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (hostname !== undefined && hostname !== ownHost) return `the proxy ${hostname}`
  return port !== undefined && port !== ownPort ? `the proxy ${address ?? ''}:${port}` : undefined
}

interface SystemError {
  code?: string
  /** The name that could not be looked up. */
  hostname?: string
  /** The address and port that could not be connected to. */
  address?: string
  port?: number
}

function toFirstAttempt(error: unknown): SystemError {
  const { errors } = error as { errors?: SystemError[] }
  return errors?.[0] ?? (error as SystemError)
}

/** Reduces an OpenSSL message to its reason. */
function shortenMessage({ message }: Error, code: string): string {
  const [, tls = ''] = /:error:[^:]*:[^:]*:[^:]*:([^:]+)/.exec(message) ?? []
  if (tls !== '') return `TLS failed: ${tls.trim()}`
  return collapseBlanks(message) || code
}

const LASTING = /CERT|UNABLE_TO_VERIFY|WRONG_VERSION|^HPE_INVALID_(?:CONSTANT|VERSION)/
const NO_TLS = /wrong version number|packet length too long/
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is down',
  HPE_INVALID_CONSTANT: 'the server does not speak HTTP',
  HPE_INVALID_VERSION: 'the server does not speak HTTP',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an authority that is not trusted',
  CERT_HAS_EXPIRED: 'its certificate has expired',
}
