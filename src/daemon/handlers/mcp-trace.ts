import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import { McpTraceEvent, type TraceMcp } from '../../core/protocol/crabtalk.generated.ts'
import type { McpFrame } from '../../mcp/types.ts'
import { toBuiltAgent } from '../built-agent.ts'
import type { Services } from '../services.ts'

/**
 * `mcp_trace`: the traffic of the connections behind these declarations from now on, or what their servers write to standard
 * error, also of those that are made later. Throws `missing` for an agent, or a server of a named agent, that is not there.
 */
export async function* mcpTrace(
  services: Services,
  { agent, name, logs, lines }: TraceMcp,
  signal: AbortSignal,
): AsyncGenerator<McpTraceEvent> {
  const { agents, mcpFrames, mcp } = services
  const known = agent === '' ? undefined : toBuiltAgent(services, await agents.get(agent, { create: false }))
  if (known && name !== '') findMcpEntry(known.name, known.mcps, name)
  const servers = logs ? await mcp(signal) : undefined
  const isAll = agent === '' && name === ''
  const frames = mcpFrames.listen(signal, { most: MOST_WAITING })
  const before = known && name !== '' && lines > 0 ? (servers?.logs(known, name).slice(-lines) ?? []) : []
  if (before.length > 0) yield { ...McpTraceEvent.create(), payload: before.join('\n') }
  for await (const frame of frames) {
    const isWanted = frame.owners.some((owner) => {
      return (agent === '' || owner.agent === known?.name) && (name === '' || owner.name === name)
    })
    if (logs === (frame.isLog ?? false) && (isAll || isWanted)) yield toTraceEvent(frame)
  }
}

function toTraceEvent({ at, isCut, isLog: _, owners, caller, ...frame }: McpFrame): McpTraceEvent {
  const { agent = '', sender = '', runId = '' } = caller ?? {}
  const ts = new Date(at).toISOString()
  return { ...frame, ts, truncated: isCut, owners: [...owners], agent, sender, runId }
}

/** Of up to 64 KiB each. */
const MOST_WAITING = 500
