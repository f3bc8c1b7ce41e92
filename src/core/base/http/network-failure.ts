import { CrabError } from '../errors.ts'
import { collapseBlanks } from '../sanitize.ts'

/** A failure of the network, or of a request that cannot be sent. */
export interface NetworkFailure {
  error: Error
  /** The code of the system or of Node, such as `ECONNREFUSED`. */
  code: string
  /** The reason as the end of a sentence. */
  reason: string
  /** Whether the request itself is wrong: a header with a line break, say. Then nothing was sent. */
  isInvalidRequest: boolean
  /** Whether another attempt fails in the same way: the server speaks another protocol, or its certificate is not valid. */
  isLasting: boolean
}

/** Describes a failure of the network; undefined for a CrabError and for bugs of this program. */
export function toNetworkFailure(error: unknown): NetworkFailure | undefined {
  const found = readNetworkCode(error)
  if (!(error instanceof Error) || error instanceof CrabError || found === '') return undefined
  const code = found === 'EPROTO' && NO_TLS.test(error.message) ? 'ERR_SSL_WRONG_VERSION_NUMBER' : found
  return {
    error,
    code,
    reason: REASONS[code] ?? shortenMessage(error, code),
    isInvalidRequest: /^ERR_(?:INVALID|UNESCAPED)_/.test(code),
    isLasting: LASTING.test(code),
  }
}

/** Returns the error code of an attempt, or of the first of several attempts at the addresses of a host. */
export function readNetworkCode(error: unknown): string {
  const { code, errors } = (error ?? {}) as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }
  return code ?? errors?.[0]?.code ?? ''
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
}
