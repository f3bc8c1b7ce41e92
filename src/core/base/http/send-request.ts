import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http'
import { createDeferred } from '../deferred.ts'
import { readNetworkCode } from './network-failure.ts'

/** A request with a text body. */
export interface OutgoingRequest {
  url: URL
  method: string | undefined
  headers: OutgoingHttpHeaders
  body: string | undefined
  signal: AbortSignal | undefined
  /** Whether the server may receive the request twice. */
  isRepeatable: boolean
  /** The longest wait for the headers of the answer; without it there is no limit. */
  firstByte?: { ms: number; toError(): Error }
  /** Resolves the host name instead of the system's resolver. */
  lookup?: NonNullable<RequestOptions['lookup']>
  /** Called with the socket that carries the request. */
  onSocket?: (socket: NonNullable<ClientRequest['socket']>) => void
}

/**
 * Sends a request with node:http or node:https and resolves with the answer when its headers have arrived.
 *
 * Node's global agents keep connections alive, proxy them and verify certificates. Redirects are not followed.
 * A repeatable request is immediately sent again, once, when a kept-alive connection turns out to be closed.
 * Rejects with the errors of Node and with the error of `firstByte`; toNetworkFailure() describes them.
 */
export async function sendRequest(outgoing: OutgoingRequest): Promise<IncomingMessage> {
  const { url, method = 'GET', headers, signal, lookup } = outgoing
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const options = { method, headers, ...(signal && { signal }), ...(lookup && { lookup }) }
  const first = request(url, options)
  try {
    return await waitForAnswer(first, outgoing)
  } catch (reason) {
    const isStale = first.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(readNetworkCode(reason))
    if (!isStale || !outgoing.isRepeatable) throw reason
    return await waitForAnswer(request(url, options), outgoing)
  }
}

async function waitForAnswer(
  request: ClientRequest,
  { body, firstByte, onSocket }: OutgoingRequest,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = createDeferred<IncomingMessage>()
  const timer = firstByte && setTimeout(() => request.destroy(firstByte.toError()), firstByte.ms)
  request.once('response', resolve)
  if (onSocket) request.once('socket', onSocket)
  request.on('error', reject) // errors may follow after the answer began; then its body reports them
  request.end(body)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
