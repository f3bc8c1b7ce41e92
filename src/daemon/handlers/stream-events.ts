import type { ToolCall, Usage } from '../../core/base/message.ts'
import type { Channel } from '../../core/policy/trust.ts'
import {
  CompactionState,
  DeniedBy,
  type StreamEvent,
  type TokenUsage,
  type ToolCallInfo,
  type ToolDenial,
} from '../../core/protocol/crabtalk.generated.ts'
import { toDetail } from '../../core/protocol/failure.ts'
import type { Denial } from '../../core/runtime/asks.ts'
import type { AgentEvent } from '../../core/runtime/events.ts'
import type { RemoteNames } from '../../core/storage/types.ts'
import { toAskClosedEvent, toAskEvent } from './asks.ts'
import { toMcpEvent } from './mcp-events.ts'

type WireEvent = NonNullable<StreamEvent['event']>

/**
 * Converts an event of a turn to its wire form. This is the only place that maps one vocabulary to the other.
 */
export function toWireEvent(event: AgentEvent, channel: Channel): WireEvent {
  switch (event.type) {
    case 'text':
      return { $case: 'chunk', value: { content: event.delta } }
    case 'thinking':
      return { $case: 'thinking', value: { content: event.delta } }
    case 'start':
      return { $case: 'start', value: pick(event) }
    case 'text-start':
      return { $case: 'textStart', value: { agent: event.agent } }
    case 'text-end':
      return { $case: 'textEnd', value: { agent: event.agent } }
    case 'thinking-start':
      return { $case: 'thinkingStart', value: { agent: event.agent } }
    case 'thinking-end':
      return { $case: 'thinkingEnd', value: { agent: event.agent } }
    case 'tool-start':
      return { $case: 'toolStart', value: { calls: event.calls.map(toCallInfo) } }
    case 'tool-result':
      return { $case: 'toolResult', value: toResult(event, channel) }
    case 'tools-complete':
      return { $case: 'toolsComplete', value: {} }
    case 'usage':
      return { $case: 'contextUsage', value: { usage: toTokenUsage(event.usage), context: event.context } }
    case 'user-steered':
      return { $case: 'userSteered', value: { content: event.content } }
    case 'steer-returned':
      return { $case: 'steerReturned', value: { content: event.content } }
    case 'compaction':
      return { $case: 'compaction', value: toCompaction(event) }
    case 'retry':
      return { $case: 'retry', value: toRetry(event) }
    case 'notice':
      return { $case: 'notice', value: toNotice(event) }
    case 'tool-progress':
      return { $case: 'toolProgress', value: toProgress(event) }
    case 'ask':
      return { $case: 'askUser', value: toAskEvent(event.ask, channel) }
    case 'ask-closed':
      return { $case: 'askClosed', value: toAskClosedEvent(event) }
    case 'mcp-state':
      return { $case: 'mcpState', value: toMcpEvent(event.server) }
    case 'end':
      return { $case: 'end', value: toEnd(event) }
  }
}

/**
 * Converts usage to its wire form; `cacheMissTokens` counts what the provider had to read without its cache.
 */
export function toTokenUsage(usage: Usage): TokenUsage {
  return {
    promptTokens: usage.input,
    completionTokens: usage.output,
    totalTokens: usage.input + usage.output,
    cacheHitTokens: usage.cache_read,
    cacheMissTokens: Math.max(0, usage.input - usage.cache_read),
    reasoningTokens: usage.reasoning,
    cacheWriteTokens: usage.cache_write,
  }
}

/** Converts a tool call to the form used in listings and events. */
export function toCallInfo(call: ToolCall & RemoteNames): ToolCallInfo {
  const { name, arguments: text, id: callId, server = '', tool } = call
  return { name, arguments: text, callId, server, ...(tool !== undefined && { tool }) }
}

type EventOfType<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>

function pick({ agent, runId, sessionId, model, line, effort }: EventOfType<'start'>) {
  return { agent, runId, sessionId, model, messageSeq: line, effort: effort ?? '' }
}

/** A client over TCP gets no diff: it shows lines of a file that neither the call nor its result has. */
function toResult({ denial, diff, ...event }: EventOfType<'tool-result'>, channel: Channel) {
  const { callId, output, durationMs, isError } = event
  const shown = diff !== undefined && typeof channel === 'string' ? { diff } : {}
  return { callId, output, durationMs, isError, denial: denial && toDenialInfo(denial), ...shown }
}

/** Converts the reason why a call was not permitted to its wire form. */
export function toDenialInfo(denial: Denial): ToolDenial {
  return { ...denial, rules: [...denial.rules], by: DENIED_BY[denial.by] }
}

const DENIED_BY = { rule: DeniedBy.RULE, person: DeniedBy.PERSON, nobody: DeniedBy.NOBODY } as const

function toProgress({ callId, message, progress = 0, total }: EventOfType<'tool-progress'>) {
  return { callId, message, progress, total }
}

function toNotice({ message, server = '', passing = false }: EventOfType<'notice'>) {
  return { message, server, passing }
}

function toRetry({ attempt, maxAttempts, delayMs, at, error, discardedTexts }: EventOfType<'retry'>) {
  const { kind, message } = error
  return { attempt, delayMs, kind, message, maxAttempts, nextAt: new Date(at).toISOString(), discardedTexts }
}

function toCompaction(event: EventOfType<'compaction'>) {
  const { state, before, context } = event
  return {
    state: COMPACTION_STATES[state],
    before,
    after: event.state === 'done' ? event.after : 0,
    context,
    archive: event.state === 'done' ? event.archive : '',
    error: event.state === 'failed' ? event.error.message : '',
  }
}

const COMPACTION_STATES = {
  started: CompactionState.STARTED,
  done: CompactionState.DONE,
  failed: CompactionState.FAILED,
} as const

function toEnd(event: EventOfType<'end'>) {
  const { agent, model, turns, usage, error, costUsd, stopReason } = event
  return {
    agent,
    model,
    turns,
    error: error?.message ?? '',
    usage: usage && toTokenUsage(usage),
    detail: toDetail(error, stopReason),
    costUsd,
  }
}
