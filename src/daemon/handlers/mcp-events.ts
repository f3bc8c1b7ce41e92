import { McpEventKind, type McpEventMsg } from '../../core/protocol/crabtalk.generated.ts'
import type { McpServerEvent } from '../../core/runtime/events.ts'

const KIND = {
  connecting: McpEventKind.CONNECTING,
  connected: McpEventKind.CONNECTED,
  failed: McpEventKind.FAILED,
  disconnected: McpEventKind.DISCONNECTED,
} as const

/** What happened to a connection, for one of its owners. */
export function toMcpEvent({ kind, at, tools, owners, ...rest }: McpServerEvent): McpEventMsg {
  const timestamp = new Date(at).toISOString()
  return { ...rest, kind: KIND[kind], tools: [...tools], owners: [...owners], timestamp }
}
