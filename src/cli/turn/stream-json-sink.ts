import { parseObject, toShownJson } from '../../core/base/json.ts'
import {
  type AskClosedEvent,
  AskKind,
  type AskUserEvent,
  type CompactionEvent,
  CompactionState,
  McpEventKind,
  type McpEventMsg,
  type PermissionRequest,
  type ToolResultEvent,
} from '../../core/protocol/crabtalk.generated.ts'
import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import { toUsageJson } from '../../core/protocol/usage-json.ts'
import type { Output } from '../output.ts'
import { toDenial } from './denials.ts'
import { OUTPUT_VERSION, type RunRecord, toResult } from './record.ts'
import type { Sink } from './sink.ts'

/** The fields of a line. */
export type Fields = { type: string; [key: string]: unknown }

/** Writes one numbered JSON object per line; `t` is the time in milliseconds since the start of the run. */
export type WriteLine = (record: RunRecord, fields: Fields) => Promise<void> | undefined

/** Returns a writer that numbers the lines of one output. */
export function lineWriter({ stdout, now }: { stdout: Output; now(): number }): WriteLine {
  let seq = 0
  return (record, { type, ...fields }) => {
    const t = Math.round((now() - record.startedAt) * 10) / 10
    const line = { v: OUTPUT_VERSION, type, seq: ++seq, t, run: record.run, ...fields }
    return stdout.write(`${toShownJson(line)}\n`)
  }
}

/**
 * Prints one JSON object per line as events arrive; the last one is the json form (docs/scripting.md).
 * `write` is passed when other lines come in between.
 */
export function streamJsonSink(options: { stdout: Output; now(): number; write?: WriteLine }): Sink {
  const { stdout, now, write = lineWriter(options) } = options
  return {
    event(event, record) {
      if (event.$case === 'toolStart') for (const call of event.value.calls) write(record, toStarted(call))
      const fields = toFields(event, record)
      return fields && write(record, fields)
    },
    async finish(record, outcome) {
      const { v: _v, type: _type, run: _run, ...result } = toResult(record, { ...outcome, now: now() })
      write(record, { type: 'run.finished', ...result })
      await stdout.flush()
    },
  }

  function toFields(event: WireTurnEvent, record: RunRecord): Fields | undefined {
    switch (event.$case) {
      case 'start':
        return toRunStarted(record)
      case 'chunk':
        return { type: 'text.delta', text: event.value.content }
      case 'thinking':
        return { type: 'thinking.delta', text: event.value.content }
      case 'textEnd':
        return { type: 'text.done', text: record.lastText }
      default:
        return toRareFields(event)
    }
  }
}

function toRunStarted({ agent, sender, session, model }: RunRecord): Fields {
  return { type: 'run.started', agent, sender, session, model }
}

function toRareFields(event: WireTurnEvent): Fields | undefined {
  switch (event.$case) {
    case 'toolProgress':
      return { type: 'tool.progress', id: event.value.callId, message: event.value.message }
    case 'toolResult':
      return toToolResult(event.value)
    case 'askUser':
      return toAskOpened(event.value)
    case 'askClosed':
      return toAskClosedRecord(event.value)
    case 'mcpState':
      return toMcpState(event.value)
    case 'contextUsage':
      return event.value.usage && { type: 'usage', ...toUsageJson(event.value.usage) }
    case 'retry':
      return {
        type: 'retry',
        attempt: event.value.attempt,
        delay_ms: event.value.delayMs,
        code: event.value.kind,
        message: event.value.message,
        ...(event.value.discardedTexts !== undefined && { discarded_texts: event.value.discardedTexts }),
      }
    case 'compaction':
      return toCompactionRecord(event.value)
    case 'notice':
      return { type: 'notice', message: event.value.message }
    default:
      return undefined
  }
}

function toCompactionRecord({ state, before, after, archive, error }: CompactionEvent): Fields {
  switch (state) {
    case CompactionState.STARTED:
      return { type: 'compaction.started', tokens: before }
    case CompactionState.DONE:
      return { type: 'compaction.done', tokens_before: before, tokens_after: after, archive }
    default:
      return { type: 'compaction.failed', message: error }
  }
}

function toStarted(call: { callId: string; name: string; arguments: string }): Fields {
  return { type: 'tool.started', id: call.callId, name: call.name, arguments: call.arguments }
}

function toToolResult({ callId, output, durationMs, isError, diff, denial }: ToolResultEvent): Fields {
  return {
    type: 'tool.result',
    id: callId,
    output,
    ms: durationMs,
    is_error: isError,
    diff: diff ?? null,
    denial: denial ? toDenial(denial) : null,
  }
}

/** Converts a question to its form for programs. */
export function toAskOpened({ askId, kind, questions, permission }: AskUserEvent): Fields {
  return {
    type: 'ask.opened',
    ask: askId,
    kind: KINDS.get(kind) ?? 'question',
    questions: questions.map(({ question, header, options, multiSelect: multi }) => {
      return { question, header, options, multi }
    }),
    permission: permission ? toPermission(permission) : null,
  }
}

const KINDS: ReadonlyMap<AskKind, string> = new Map([
  [AskKind.PERMISSION, 'permission'],
  [AskKind.ELICITATION, 'elicitation'],
  [AskKind.TRUST, 'trust'],
  [AskKind.PLAN, 'plan'],
])

function toPermission({ callId, server, ...request }: PermissionRequest) {
  return { id: callId, server: server === '' ? null : server, ...request }
}

/** Converts the end of a question to its form for programs. */
export function toAskClosedRecord({ askId, by, content }: AskClosedEvent): Fields {
  return { type: 'ask.closed', ask: askId, by, content: parseObject(content) ?? null }
}

function toMcpState({ name, kind, tools, error }: McpEventMsg): Fields {
  return {
    type: 'mcp.state',
    server: name,
    state: STATES.get(kind) ?? 'unknown',
    tools,
    error: error || null,
  }
}

const STATES: ReadonlyMap<McpEventKind, string> = new Map([
  [McpEventKind.CONNECTING, 'connecting'],
  [McpEventKind.CONNECTED, 'connected'],
  [McpEventKind.FAILED, 'failed'],
  [McpEventKind.DISCONNECTED, 'disconnected'],
])
