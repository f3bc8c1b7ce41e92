import { withoutChangeNote } from '../../core/base/changed-call.ts'
import { isNotRun, isUnanswered } from '../../core/base/not-run.ts'
import {
  type AskUserEvent,
  type ContextUsageEvent,
  McpEventKind,
  type StreamEnd,
  type StreamEvent,
  type StreamStart,
  type ToolCallInfo,
  type ToolResultEvent,
} from '../../core/protocol/crabtalk.generated.ts'
import { findPasted } from '../text/prompt-state.ts'
import type { OpenText, ToolRun } from '../view/blocks.ts'
import { closeAsk, openAsk } from './asks.ts'
import { reduceCompaction, warnIfFull } from './compaction.ts'
import { closeText, finish, finishAll, finishTools, flushTools } from './finish.ts'
import { beginRetry, endRetry } from './retry.ts'
import { findTypedText, isOurs, withoutSteer } from './steers.ts'
import type { ChatState, RunningTurn, UsageTotals } from './types.ts'

/** Returns the state after an event of the running turn. Unknown events change nothing. */
export function reduceStream(state: ChatState, { event }: StreamEvent, now?: number): ChatState {
  switch (event?.$case) {
    case 'start':
      return startTurn(state, event.value)
    case 'textStart':
      return begin(endRetry(state, now), 'answer', event.value.agent)
    case 'chunk':
      return grow(state, 'answer', event.value.content)
    case 'thinkingStart':
      return begin(endRetry(state, now), 'thinking', event.value.agent)
    case 'thinking':
      return grow(state, 'thinking', event.value.content)
    case 'textEnd':
    case 'thinkingEnd':
      return state.open?.isVoid ? state : doing(closeText(state, true), 'thinking')
    case 'toolStart':
      return startTools(endRetry(state, now), event.value.calls)
    case 'toolProgress':
      return changeTool(state, event.value.callId, { progress: event.value.message })
    case 'toolResult':
      return endTool(state, event.value)
    case 'toolsComplete':
      return doing(finishTools(state), 'thinking')
    case 'askUser':
      return ask(state, event.value)
    case 'askClosed':
      return closeAsk(state, event.value)
    case 'contextUsage':
      return { ...state, usage: addContextUsage(state, event.value) }
    case 'compaction':
      return reduceCompaction(state, event.value)
    case 'userSteered':
      return takeUpSteer(state, event.value.content)
    case 'steerReturned':
      return returnSteer(state, event.value.content)
    case 'retry':
      return beginRetry(state, event.value, now)
    case 'notice':
      return notice(state, event.value.message)
    case 'mcpState':
      return {
        ...state,
        servers: new Map(state.servers).set(event.value.name, serverState(event.value.kind)),
      }
    case 'end':
      return end(state, event.value, now)
    default:
      return state
  }
}

/** A turn of a guest uses the guest's model and does not store the choice for the conversation. */
function startTurn(state: ChatState, { agent, sessionId: session, model, effort }: StreamStart): ChatState {
  if (agent !== '' && agent !== state.agent)
    return { ...state, session, ...(state.turn && { turn: { ...state.turn, isGuest: true } }) }
  const choiceScope = state.choiceScope === 'next-message' ? 'stored' : state.choiceScope
  return { ...state, session, model, effort, choiceScope }
}

function doing(state: ChatState, what: string): ChatState {
  return state.turn ? { ...state, turn: { ...state.turn, doing: what } } : state
}

function begin(state: ChatState, kind: OpenText['kind'], agent: string): ChatState {
  const closed = withSpeaker(flushTools(closeText(state, true)), kind, agent)
  const open = { kind, agent, text: '', hasClosedParts: false, carry: '' }
  return doing({ ...closed, open }, kind === 'answer' ? 'writing' : 'thinking')
}

/** Prints the name of a guest above its answer. */
function withSpeaker(state: ChatState, kind: OpenText['kind'], agent: string): ChatState {
  const isGuest = kind === 'answer' && agent !== '' && agent !== state.agent
  return isGuest ? finish(state, { kind: 'rule', text: agent }) : state
}

function grow(state: ChatState, kind: OpenText['kind'], delta: string): ChatState {
  const { open, turn } = state
  const before = open?.kind === kind ? state : flushTools(state)
  const current =
    open?.kind === kind ? open : { kind, agent: state.agent, text: '', hasClosedParts: false, carry: '' }
  const outputTokens = (turn?.outputTokens ?? 0) + delta.length / CHARS_PER_TOKEN
  const hasAnswered = turn?.hasAnswered || (kind === 'answer' && delta.trim() !== '')
  return {
    ...before,
    open: { ...current, text: current.text + delta },
    ...(turn && { turn: { ...turn, outputTokens, hasAnswered } }),
  }
}

function startTools(state: ChatState, calls: readonly ToolCallInfo[]): ChatState {
  const closed = closeText(state, true)
  const tools = calls.map(
    ({ callId, name, server, arguments: args }): ToolRun => ({
      callId,
      name,
      server,
      arguments: args,
      state: 'running',
      progress: '',
      output: '',
      durationMs: 0,
      denial: undefined,
      diff: '',
    }),
  )
  return doing(finishTools({ ...closed, tools: [...closed.tools, ...tools] }), runningNames(tools))
}

function changeTool(state: ChatState, callId: string, change: Partial<ToolRun>): ChatState {
  const tools = state.tools.map((tool) => (tool.callId === callId ? { ...tool, ...change } : tool))
  return { ...state, tools }
}

function toResult(tools: readonly ToolRun[], result: ToolResultEvent): Partial<ToolRun> {
  const { callId, output, durationMs, isError, denial, diff } = result
  const { name = '', arguments: args = '' } = tools.find((tool) => tool.callId === callId) ?? {}
  const failed = isNotRun(name, output) || isUnanswered(name, output) ? 'skipped' : 'failed'
  const state = denial ? 'denied' : isError ? failed : 'done'
  const shown = diff === undefined ? {} : { diff } // otherwise the card's stays
  return { output: withoutChangeNote(output, args), durationMs, denial, state, ...shown }
}

function ask(state: ChatState, event: AskUserEvent): ChatState {
  const { permission } = event
  const withDiff = permission ? changeTool(state, permission.callId, { diff: permission.diff }) : state
  const { agent, sender } = state
  return openAsk(withDiff, event, { agent, sender })
}

function endTool(state: ChatState, result: ToolResultEvent): ChatState {
  const ended = changeTool(state, result.callId, toResult(state.tools, result))
  const isRunning = ended.tools.some((tool) => tool.state === 'running')
  return finishTools(isRunning ? doing(ended, runningNames(ended.tools)) : ended)
}

function runningNames(tools: readonly ToolRun[]): string {
  const names = new Set(tools.filter((tool) => tool.state === 'running').map(({ name }) => name))
  return names.size === 0 ? 'thinking' : `running ${[...names].join(', ')}`
}

function takeUpSteer(state: ChatState, content: string): ChatState {
  const closed = closeText(withoutSteer(state, content), true)
  const text = findTypedText(state, content)
  const pasted = findPasted(state.prompt, text)
  return finish(closed, {
    ...{ kind: 'user', text, how: 'steered', files: [] },
    ...(pasted.length > 0 && { pasted }),
  })
}

function returnSteer(state: ChatState, content: string): ChatState {
  if (!isOurs(state, content)) {
    return finish(state, {
      kind: 'notice',
      tone: 'warning',
      text: `The turn ended before it read your message: ${findTypedText(state, content)}`,
    })
  }
  const returned = [...state.returned, findTypedText(state, content)]
  return { ...withoutSteer(state, content), returned }
}

function notice(state: ChatState, text: string): ChatState {
  if (state.shownNotices.has(text)) return state
  return finish(
    { ...state, shownNotices: new Set(state.shownNotices).add(text) },
    { kind: 'notice', tone: 'info', text },
  )
}

/** Adds the tokens of a request. The context meter stays that of the conversation's own agent. */
function addContextUsage(
  { usage: spent, turn }: ChatState,
  { usage, context }: ContextUsageEvent,
): UsageTotals {
  if (!usage) return spent
  return {
    ...spent,
    ...(turn?.isGuest !== true && { last: usage, context: context ?? spent.context }),
    input: spent.input + usage.promptTokens,
    output: spent.output + usage.completionTokens,
    cacheRead: spent.cacheRead + (usage.cacheHitTokens ?? 0),
    cacheWrite: spent.cacheWrite + (usage.cacheWriteTokens ?? 0),
  }
}

function end(state: ChatState, value: StreamEnd, now: number | undefined): ChatState {
  const ended = { ...finishAll(state), turn: undefined }
  const { usage } = ended
  const usd = usage.usd === undefined || value.costUsd === undefined ? undefined : usage.usd + value.costUsd
  const counted = warnIfFull({ ...ended, usage: { ...usage, usd, turns: usage.turns + 1 } })
  const stop = value.detail?.stopReason
  if (stop === 'cancelled') return finish(counted, { kind: 'notice', tone: 'info', text: 'Interrupted' })
  if (value.error !== '') {
    return finish(counted, { kind: 'notice', tone: 'error', text: value.error, hint: value.detail?.hint })
  }
  const timed = finishTurn(counted, value, { turn: state.turn, now })
  const note = NOTES.get(stop ?? '') ?? (state.turn?.hasAnswered === false ? NO_ANSWER : undefined)
  return note === undefined ? timed : finish(timed, { kind: 'notice', tone: 'warning', text: note })
}

/** Prints how long a turn took and what it cost, unless it was short and free. */
function finishTurn(
  state: ChatState,
  { costUsd = 0 }: StreamEnd,
  { turn, now }: { turn: RunningTurn | undefined; now: number | undefined },
): ChatState {
  const elapsed = turn === undefined || turn.isPartial || now === undefined ? 0 : now - turn.startedAt
  const ms = elapsed >= MIN_SHOWN_MS ? elapsed : undefined
  const usd = costUsd > 0 ? costUsd : undefined
  return ms === undefined && usd === undefined ? state : finish(state, { kind: 'turn-end', ms, usd })
}

/** The minimum duration of a turn that is shown. */
const MIN_SHOWN_MS = 2_000

function serverState(kind: McpEventKind): ServerState {
  return SERVER_STATES.get(kind) ?? 'connecting'
}

type ServerState = NonNullable<ReturnType<ChatState['servers']['get']>>

const SERVER_STATES: ReadonlyMap<McpEventKind, ServerState> = new Map([
  [McpEventKind.CONNECTED, 'connected'],
  [McpEventKind.FAILED, 'failed'],
  [McpEventKind.DISCONNECTED, 'disconnected'],
])

const NO_ANSWER = 'The model returned an empty answer'

/** Notes for stop reasons that are not failures but not the usual end either. */
const NOTES: ReadonlyMap<string, string> = new Map([
  ['length', "The answer was cut off at the model's output limit"],
  ['refused', 'The model refused to answer'],
  ['max_turns', 'The turn reached its limit of model calls'],
  ['max_cost', 'The turn reached its cost limit'],
])

/** The average characters per token, to estimate counts that the provider has not reported yet. */
const CHARS_PER_TOKEN = 4
