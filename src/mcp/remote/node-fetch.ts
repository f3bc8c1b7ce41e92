import type { IncomingMessage } from 'node:http'
import type { FetchLike } from '@modelcontextprotocol/client'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { toBodyStream } from '../../core/base/http/body-stream.ts'
import { PROXY_HINT, toNetworkFailure } from '../../core/base/http/network-failure.ts'
import { sendRequest } from '../../core/base/http/send-request.ts'

/**
 * Implements the part of `fetch` that MCP needs on node:http and node:https: a text body, a streamed
 * response, no redirects.
 *
 * The built-in fetch aborts a response that is silent for five minutes, which a server may be. Throws
 * `unavailable`, saying in lower case why the server cannot be reached, or as the signal does. A body that is
 * cut off simply ends: earlier events of a stream are not lost, and truncated JSON fails to parse. A call of a
 * tool is never sent twice. While `isLeaving` returns true, a request does not keep the process alive.
 */
export function nodeFetch(isLeaving = () => false): FetchLike {
  return async (input, init = {}) => {
    const url = new URL(input)
    const signal = init.signal ?? undefined
    const body = typeof init.body === 'string' ? init.body : undefined
    try {
      const answer = await sendRequest({
        url,
        method: init.method,
        headers: Object.fromEntries(new Headers(init.headers)),
        body,
        signal,
        isRepeatable: !body?.includes('"tools/call"'),
        onSocket: (socket) => isLeaving() && socket.unref(),
      })
      return toResponse(answer)
    } catch (reason) {
      if (signal?.aborted) throw toCancelledError(signal)
      throw toUnreachable(reason, url)
    }
  }
}

function toResponse(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 0
  if (status < 200 || status > 599) {
    answer.destroy() // the body is not used
    throw new CrabError('failed', `it answered HTTP ${status}, which is not a valid status`)
  }
  const headers = new Headers()
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const hasBody = ![204, 205, 304].includes(status)
  if (!hasBody) answer.resume()
  const body = hasBody ? toBodyStream(answer, { pieceBytes: PIECE_BYTES, toError: () => undefined }) : null
  return new Response(body, {
    status,
    statusText: (answer.statusMessage ?? '').replaceAll(/[^\t\x20-\x7e]/g, '?'),
    headers,
  })
}

/** Converts network errors to `unavailable`; errors in the request itself stay as they are. */
function toUnreachable(reason: unknown, url: URL): unknown {
  const failure = toNetworkFailure(reason, url)
  if (!failure || failure.isInvalidRequest) return reason
  const { origin } = url
  const hint = failure.isProxy
    ? PROXY_HINT
    : (HINTS[failure.code] ?? (CERTIFICATE.test(failure.code) ? HINT_CERTIFICATE : undefined))
  return new CrabError('unavailable', `it cannot be reached at ${origin}: ${failure.reason}`, {
    cause: reason,
    ...(hint !== undefined && { hint }),
  })
}

const PIECE_BYTES = 64 * 1024
const HINTS: Record<string, string> = {
  ECONNREFUSED: 'check that it is running, and the port in its address',
  ENOTFOUND: 'check the host name in its address',
  ERR_SSL_WRONG_VERSION_NUMBER: 'its address may start with http://',
  HPE_INVALID_CONSTANT: 'its address may start with https://',
}
const CERTIFICATE = /CERT|UNABLE_TO_VERIFY/
const HINT_CERTIFICATE = 'set NODE_EXTRA_CA_CERTS to a file with further certificates to trust'
