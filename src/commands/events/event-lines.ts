import { toAskOpened } from '../../cli/turn/stream-json-sink.ts'
import { pluralize } from '../../core/base/format.ts'
import { parseObject } from '../../core/base/json.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { listSpeakers } from '../../core/base/sender-class.ts'
import {
  AgentEventKind,
  type AgentEventMsg,
  McpEventKind,
  type McpEventMsg,
} from '../../core/protocol/crabtalk.generated.ts'
import type { KindName } from './kinds.ts'

/** The numbers of the kinds on the wire. */
export const EVENT_KINDS: Readonly<Record<KindName, AgentEventKind>> = {
  'turn-started': AgentEventKind.TURN_STARTED,
  'text-delta': AgentEventKind.TEXT_DELTA,
  'text-start': AgentEventKind.TEXT_START,
  'text-end': AgentEventKind.TEXT_END,
  'thinking-delta': AgentEventKind.THINKING_DELTA,
  'thinking-start': AgentEventKind.THINKING_START,
  'thinking-end': AgentEventKind.THINKING_END,
  'tool-start': AgentEventKind.TOOL_START,
  'tool-result': AgentEventKind.TOOL_RESULT,
  'tools-complete': AgentEventKind.TOOLS_COMPLETE,
  done: AgentEventKind.DONE,
  'turn-failed': AgentEventKind.TURN_FAILED,
  'ask-opened': AgentEventKind.ASK_OPENED,
  'ask-closed': AgentEventKind.ASK_CLOSED,
  published: AgentEventKind.PUBLISHED,
}

/** Formats an event on one line: time, agent and sender, description. */
export function toLine(event: AgentEventMsg): string {
  const whose = event.kind === EVENT_KINDS.published ? 'event' : listSpeakers(event).join('/')
  return joinParts(event.timestamp, whose, describeEvent(event))
}

/** Converts an event to its `--json` form. */
export function toJsonLine(event: AgentEventMsg) {
  const { agent, sender, timestamp, runId, session, content, toolCalls, toolOutput, toolIsError } = event
  const kind = NAMES.get(event.kind) ?? 'unknown'
  return {
    kind,
    at: timestamp,
    agent,
    sender,
    run: runId,
    session,
    content,
    ...(kind === 'tool-start' && {
      calls: toolCalls.map((call) => ({
        id: call.callId,
        name: call.name,
        server: call.server,
        arguments: call.arguments,
      })),
    }),
    ...(kind === 'tool-result' && { output: toolOutput, is_error: toolIsError }),
    ...(event.ask?.ask && { ask: toJsonAsk(toAskOpened(event.ask.ask)) }),
    ...(event.askClosed && {
      ask: {
        id: event.askClosed.askId,
        by: event.askClosed.by,
        content: parseObject(event.askClosed.content) ?? null,
      },
    }),
    ...(kind === 'published' && { event: event.eventId }),
  }
}

/** Formats an event of a server on one line. */
export function toMcpLine({ timestamp, agent, name, kind, tools, error }: McpEventMsg): string {
  const count = kind === McpEventKind.CONNECTED ? `, ${pluralize(tools.length, 'tool')}` : ''
  return joinParts(
    timestamp,
    `${agent}/${name}`,
    `${mcpStateName(kind)}${count}${error === '' ? '' : `: ${error}`}`,
  )
}

/** Converts an event of a server to its `--json` form. */
export function toJsonMcp({ timestamp, agent, name, kind, tools, error, fingerprint, owners }: McpEventMsg) {
  return {
    kind: mcpStateName(kind),
    at: timestamp,
    agent,
    server: name,
    tools,
    error: error || null,
    fingerprint,
    owners,
  }
}

function describeEvent({
  kind,
  content,
  toolOutput,
  toolIsError,
  ask,
  askClosed,
  eventId,
}: AgentEventMsg): string {
  switch (kind) {
    case EVENT_KINDS['turn-started']:
      return `starts with ${content}`
    case EVENT_KINDS['tool-start']:
      return `calls ${content}`
    case EVENT_KINDS['tool-result']:
      return `${toolIsError ? 'failed' : 'result'} after ${content}: ${toolOutput.trim().split('\n', 1)[0]}`
    case EVENT_KINDS.done:
      return `done: ${content}`
    case EVENT_KINDS['turn-failed']:
      return `failed: ${content}`
    case EVENT_KINDS['ask-opened']:
      return `asks ${ask?.ask?.askId}: ${ask?.ask?.questions.map(({ question }) => question).join(' ')}`
    case EVENT_KINDS['ask-closed']:
      return `ask ${askClosed?.askId} is closed: ${askClosed?.by}`
    case EVENT_KINDS.published:
      return `${eventId} ${content}`
    case EVENT_KINDS['text-delta']:
    case EVENT_KINDS['thinking-delta']:
      return `${NAMES.get(kind)} ${JSON.stringify(content)}`
    default:
      return NAMES.get(kind) ?? 'an event that this version does not know'
  }
}

function toJsonAsk({ type: _, ask: id, ...rest }: ReturnType<typeof toAskOpened>) {
  return { id, ...rest }
}

function mcpStateName(kind: McpEventKind): string {
  return STATES.get(kind) ?? 'unknown'
}

/** Joins the parts into one line; line breaks in foreign text become spaces. */
function joinParts(timestamp: string, whose: string, what: string): string {
  return [formatClock(timestamp), whose, what].map((part) => sanitizeLine(part).trim()).join('  ')
}

/** Formats the local time of day. */
function formatClock(timestamp: string): string {
  const date = new Date(timestamp)
  return Number.isNaN(date.getTime()) ? timestamp : date.toTimeString().slice(0, 8)
}

const NAMES: ReadonlyMap<AgentEventKind, KindName> = new Map(
  Object.entries(EVENT_KINDS).map(([name, kind]) => [kind, name as KindName]),
)

const STATES: ReadonlyMap<McpEventKind, string> = new Map([
  [McpEventKind.CONNECTING, 'connecting'],
  [McpEventKind.CONNECTED, 'connected'],
  [McpEventKind.FAILED, 'failed'],
  [McpEventKind.DISCONNECTED, 'disconnected'],
])
