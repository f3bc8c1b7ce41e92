import { checkMcpEntry, findMcpEntry } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import {
  McpEventKind,
  type McpEventMsg,
  McpTraceEvent,
  type TraceMcp,
} from '../../core/protocol/crabtalk.generated.ts'
import type { McpServerEvent } from '../../core/runtime/events.ts'
import type { McpFrame } from '../../mcp/types.ts'
import { toBuiltAgent } from '../built-agent.ts'
import type { Services } from '../services.ts'
import { readObject } from './json-text.ts'

/**
 * Handles `mcp_trace`: yields the traffic of the connections behind matching declarations from now on,
 * including connections made later; with `logs`, what their servers write to standard error. Throws `missing`
 * for an unknown agent, or for an unknown server of a named agent.
 */
export async function* mcpTrace(
  services: Pick<Services, 'agents' | 'hook' | 'mcp' | 'mcpFrames'>,
  { agent, name, logs, lines, entry }: TraceMcp,
  signal: AbortSignal,
): AsyncGenerator<McpTraceEvent> {
  const { agents, mcpFrames, mcp } = services
  const stored = agent === '' ? undefined : toBuiltAgent(services, await agents.get(agent, { create: false }))
  const known = stored && entry !== '' ? { ...stored, mcps: [readEntry(entry)] } : stored
  if (known && name !== '') findMcpEntry(known.name, known.mcps, name)
  const servers = logs ? await mcp(signal) : undefined
  const isAll = agent === '' && name === ''
  const frames = mcpFrames.listen(signal, { most: MAX_QUEUED_FRAMES })
  const before = known && name !== '' && lines > 0 ? (servers?.logs(known, name).slice(-lines) ?? []) : []
  if (before.length > 0) yield { ...McpTraceEvent.create(), payload: before.join('\n') }
  for await (const frame of frames) {
    const isMatch = frame.owners.some((owner) => {
      return (agent === '' || owner.agent === known?.name) && (name === '' || owner.name === name)
    })
    if (logs === (frame.isLog ?? false) && (isAll || isMatch)) yield toTraceEvent(frame)
  }
}

function readEntry(text: string): McpEntry {
  const what = 'Cannot follow the MCP server'
  return checkMcpEntry(what, readObject(what, text), undefined)
}

function toTraceEvent({ at, isCut, isLog: _, owners, caller, ...frame }: McpFrame): McpTraceEvent {
  const { agent = '', sender = '', runId = '' } = caller ?? {}
  const ts = new Date(at).toISOString()
  return { ...frame, ts, truncated: isCut, owners: [...owners], agent, sender, runId }
}

/** The maximum number of queued frames, each of up to 64 KiB. */
const MAX_QUEUED_FRAMES = 500

const KIND = {
  connecting: McpEventKind.CONNECTING,
  connected: McpEventKind.CONNECTED,
  failed: McpEventKind.FAILED,
  disconnected: McpEventKind.DISCONNECTED,
} as const

/** Handles `subscribe_mcp_events`: yields the events of connections from now on, once for each owner. */
export async function* subscribeMcpEvents(
  { mcpEvents }: Pick<Services, 'mcpEvents'>,
  signal: AbortSignal,
): AsyncGenerator<McpEventMsg> {
  for await (const event of mcpEvents.listen(signal)) yield toMcpEvent(event)
}

/** Converts an event of a connection, for one of its owners, to its wire form. */
export function toMcpEvent({ kind, at, tools, owners, ...rest }: McpServerEvent): McpEventMsg {
  const timestamp = new Date(at).toISOString()
  return { ...rest, kind: KIND[kind], tools: [...tools], owners: [...owners], timestamp }
}
