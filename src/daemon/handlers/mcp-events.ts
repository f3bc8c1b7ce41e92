import { McpEventKind, type McpEventMsg } from '../../core/protocol/crabtalk.generated.ts'
import type { McpServerEvent } from '../../core/runtime/events.ts'
import type { Services } from '../services.ts'

const KIND = {
  connecting: McpEventKind.CONNECTING,
  connected: McpEventKind.CONNECTED,
  failed: McpEventKind.FAILED,
  disconnected: McpEventKind.DISCONNECTED,
} as const

/** Handles `subscribe_mcp_events`: yields the events of connections from now on, once for each owner. */
export async function* subscribeMcpEvents(
  { mcpEvents }: Services,
  signal: AbortSignal,
): AsyncGenerator<McpEventMsg> {
  for await (const event of mcpEvents.listen(signal)) yield toMcpEvent(event)
}

/** Converts an event of a connection, for one of its owners, to its wire form. */
export function toMcpEvent({ kind, at, tools, owners, ...rest }: McpServerEvent): McpEventMsg {
  const timestamp = new Date(at).toISOString()
  return { ...rest, kind: KIND[kind], tools: [...tools], owners: [...owners], timestamp }
}
