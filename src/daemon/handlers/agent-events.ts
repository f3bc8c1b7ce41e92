import { formatCount } from '../../core/base/format.ts'
import { parseObject } from '../../core/base/json.ts'
import type { ToolCall, Usage } from '../../core/base/message.ts'
import { headBytes } from '../../core/bus/event-trace.ts'
import { AgentEventKind, AgentEventMsg } from '../../core/protocol/crabtalk.generated.ts'
import type { AgentEvent } from '../../core/runtime/events.ts'
import type { StartedRun } from '../../core/runtime/live/live-turns.ts'
import type { DaemonEvent } from '../daemon-event.ts'
import { toAskClosedEvent, toAskEvent } from './asks.ts'
import { toCallInfo } from './stream-events.ts'

/** The kinds of events sent to clients that do not name any. */
export const DEFAULT_WIRE_KINDS: readonly AgentEventKind[] = [
  AgentEventKind.TEXT_DELTA,
  AgentEventKind.THINKING_DELTA,
  AgentEventKind.TOOL_START,
  AgentEventKind.TOOL_RESULT,
  AgentEventKind.TOOLS_COMPLETE,
  AgentEventKind.DONE,
  AgentEventKind.TEXT_START,
  AgentEventKind.TEXT_END,
  AgentEventKind.THINKING_START,
  AgentEventKind.THINKING_END,
]

/**
 * Converts an event to its flat wire form. Returns undefined when its kind is not requested, and for turns
 * that are not stored, which only their own client may see.
 *
 * A failed turn is `TURN_FAILED` for clients that request that kind, and `DONE` for all others: each turn
 * ends exactly once.
 */
export function toAgentEvent(
  daemonEvent: DaemonEvent,
  requested: ReadonlySet<AgentEventKind>,
): AgentEventMsg | undefined {
  if (daemonEvent.type === 'published') {
    const { id: eventId, source, payload, publishedAt } = daemonEvent.event
    const content = `${source} ${payload}`
    if (!requested.has(AgentEventKind.PUBLISHED)) return undefined
    return AgentEventMsg.create({
      kind: AgentEventKind.PUBLISHED,
      content,
      eventId,
      timestamp: isoTime(publishedAt),
    })
  }
  const { run, event, at } = daemonEvent
  if (run.ephemeral) return undefined
  const flat = flatten(event, { run, at, requested })
  if (!flat || !requested.has(flat.kind)) return undefined
  const { primary, sessionId: session } = run.start
  const { sender } = run
  const place = { agent: primary.name, sender, runId: run.id, session, timestamp: isoTime(at) }
  return AgentEventMsg.create({ ...place, ...flat })
}

type Flat = Partial<AgentEventMsg> & { kind: AgentEventKind }

interface EventContext {
  run: StartedRun
  at: number
  requested: ReadonlySet<AgentEventKind>
}

function flatten(event: AgentEvent, where: EventContext): Flat | undefined {
  switch (event.type) {
    case 'text':
      return { kind: AgentEventKind.TEXT_DELTA, content: event.delta }
    case 'thinking':
      return { kind: AgentEventKind.THINKING_DELTA, content: event.delta }
    case 'tool-start':
      return toStart(event.calls)
    case 'tool-result':
      return toResult(event)
    case 'end':
      return toEnd(event, where.requested)
    case 'start':
      return { kind: AgentEventKind.TURN_STARTED, content: event.model }
    case 'ask':
      return toOpened(event, where)
    case 'ask-closed':
      return { kind: AgentEventKind.ASK_CLOSED, askClosed: toAskClosedEvent(event) }
    default: {
      const kind = CONTENTLESS_KINDS[event.type]
      return kind === undefined ? undefined : { kind }
    }
  }
}

/** The events without content. */
const CONTENTLESS_KINDS: Partial<Record<AgentEvent['type'], AgentEventKind>> = {
  'text-start': AgentEventKind.TEXT_START,
  'text-end': AgentEventKind.TEXT_END,
  'thinking-start': AgentEventKind.THINKING_START,
  'thinking-end': AgentEventKind.THINKING_END,
  'tools-complete': AgentEventKind.TOOLS_COMPLETE,
}

type EventOfType<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>

function toStart(calls: EventOfType<'tool-start'>['calls']): Flat {
  const content = calls.map(formatCall).join(', ')
  return { kind: AgentEventKind.TOOL_START, content, toolCalls: calls.map(toCallInfo) }
}

/** Shows the first line of the command for calls of bash. */
function formatCall(call: ToolCall & { server?: string }): string {
  const command = call.name === 'bash' && !call.server ? parseObject(call.arguments)?.['command'] : undefined
  return typeof command === 'string' ? `bash(${command.trim().split(/\r?\n/, 1)[0]})` : call.name
}

function toResult({ durationMs, output, isError }: EventOfType<'tool-result'>): Flat {
  return {
    kind: AgentEventKind.TOOL_RESULT,
    content: `${Math.round(durationMs)}ms`,
    toolOutput: headBytes(output, OUTPUT_BYTES),
    toolIsError: isError,
  }
}

function toEnd(
  { model, usage, error, stopReason }: EventOfType<'end'>,
  requested: ReadonlySet<AgentEventKind>,
): Flat {
  const isFailed = error !== undefined || stopReason === 'cancelled' || stopReason === 'failed'
  if (isFailed && requested.has(AgentEventKind.TURN_FAILED))
    return { kind: AgentEventKind.TURN_FAILED, content: error?.message ?? stopReason }
  return { kind: AgentEventKind.DONE, content: usage ? `${model} ${formatUsage(usage)}` : model }
}

function toOpened({ ask }: EventOfType<'ask'>, { run, at }: EventContext): Flat {
  const { primary, sessionId: session } = run.start
  const turn = { agent: primary.name, sender: run.sender, session, runId: run.id }
  return {
    kind: AgentEventKind.ASK_OPENED,
    ask: { ...turn, openedAt: isoTime(at), ask: toAskEvent(ask, 'local') },
  }
}

/** Formats usage as `12.3k in (10k cached) / 1.23k out`. */
function formatUsage({ input, output, cache_read }: Usage): string {
  return `${formatCount(input)} in (${formatCount(cache_read)} cached) / ${formatCount(output)} out`
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}

const OUTPUT_BYTES = 2048
