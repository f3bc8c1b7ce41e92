import type { FetchLike, ReconnectionScheduler } from '@modelcontextprotocol/client'
import { SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** Creates the SDK's transport for Streamable HTTP; it reopens a broken stream after a delay that we bound. */
export function newHttpTransport(url: string, fetch: FetchLike): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), { fetch, reconnectionScheduler: later })
}

/** Creates the SDK's transport for HTTP with server-sent events (MCP 2024-11-05). */
export function newSseTransport(url: string, fetch: FetchLike): SSEClientTransport {
  return new SSEClientTransport(new URL(url), { fetch })
}

/** Schedules a reconnection without keeping the process alive. Bounds the delay, which the server chooses. */
const later: ReconnectionScheduler = (reconnect, delay) => {
  const timer = setTimeout(reconnect, Math.min(Math.max(delay, MIN_DELAY_MS), MAX_DELAY_MS)).unref()
  return () => clearTimeout(timer)
}

/** Without a minimum, a server whose streams end immediately would be requested in a tight loop. */
const MIN_DELAY_MS = 250
const MAX_DELAY_MS = 30_000
