import type { FetchLike, ReconnectionScheduler } from '@modelcontextprotocol/client'
import { SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** The SDK's transport for Streamable HTTP; its stream is taken up again where it broke, in time we bound. */
export function newHttpTransport(url: string, fetch: FetchLike): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), { fetch, reconnectionScheduler: later })
}

/** The SDK's transport for HTTP with server-sent events, of 2024-11-05. */
export function newSseTransport(url: string, fetch: FetchLike): SSEClientTransport {
  return new SSEClientTransport(new URL(url), { fetch })
}

/** Keeps no process alive, and waits no longer than the SDK itself would, nor no time at all, whatever the server says. */
const later: ReconnectionScheduler = (reconnect, delay) => {
  const timer = setTimeout(reconnect, Math.min(Math.max(delay, MIN_DELAY_MS), MAX_DELAY_MS)).unref()
  return () => clearTimeout(timer)
}

/** A server whose streams end at once is asked for the next one without end. */
const MIN_DELAY_MS = 250
const MAX_DELAY_MS = 30_000
