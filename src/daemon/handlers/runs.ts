import { maskCredentials } from '../../core/base/mask-credentials.ts'
import { collapseBlanks } from '../../core/base/sanitize.ts'
import type {
  ActiveConversationInfo,
  ActiveConversationList,
  ListActiveConversationsMsg,
  RunResult,
  StreamEnd,
  WaitRun,
} from '../../core/protocol/crabtalk.generated.ts'
import type { TurnRun } from '../../core/runtime/live/run.ts'
import type { RunningWork } from '../../core/runtime/running-turns.ts'
import type { SessionSummary } from '../../core/storage/types.ts'
import type { Services } from '../services.ts'
import type { ConversationActivity } from './conversations.ts'
import { toDenialInfo, toWireEvent } from './stream-events.ts'

/**
 * Handles `wait_run`: returns the result of a run of this process when it ends, or with `peek` its current
 * state.
 */
export async function waitRun(
  { live }: Pick<Services, 'live'>,
  { runId, peek }: WaitRun,
  signal: AbortSignal,
): Promise<RunResult> {
  return toResult(peek ? live.get(runId) : (await live.wait(runId, signal)).run)
}

function toResult({ id, agent, sender, start, summary, end }: TurnRun): RunResult {
  return {
    runId: id,
    session: start?.sessionId ?? '',
    agent: start?.primary.name ?? agent,
    sender,
    content: summary.text,
    end: end && (toWireEvent(end, 'local').value as StreamEnd), // an end has no question
    tools: [...summary.tools.values()],
    denied: summary.denied.map(({ denial, ...call }) => ({ ...call, denial: toDenialInfo(denial) })),
  }
}

/**
 * Handles `list_active_conversations`: lists the conversations with work in progress in this process, oldest
 * first. Empty fields match everything.
 */
export async function listActiveConversations(
  services: Pick<Services, 'stores' | 'running' | 'asks' | 'live' | 'now'>,
  { agent, sender }: ListActiveConversationsMsg,
): Promise<ActiveConversationList> {
  const found = services.running
    .list()
    .filter((one) => (agent === '' || one.agent === agent) && (sender === '' || one.pair.sender === sender))
  const stored = found.length === 0 ? [] : await services.stores.storage.listSessions({})
  const summaries = new Map(stored.map((summary) => [summary.id, summary]))
  return {
    conversations: found.map((one) => toInfo(one, summaries.get(one.conversation.id), services)),
  }
}

/** Returns a lookup of what happens in a conversation now. */
export function readActivity({
  running,
  asks,
  followers,
}: Pick<Services, 'running' | 'asks' | 'followers'>): ConversationActivity {
  const busy = new Set(running.list().map(({ conversation }) => conversation.id))
  const open = Map.groupBy(asks.list(''), ({ session }) => session)
  if (busy.size === 0 && open.size === 0 && followers.isIdle) return () => IDLE
  return ({ id, agentId, sender }) => ({
    windows: followers.count({ agentId, sender }).windows,
    running: busy.has(id),
    asks: open.get(id)?.length ?? 0,
  })
}

const IDLE = { windows: 0, running: false, asks: 0 }

/** Describes what a turn does, on one line: its running tools, a wait for its model, or the last line of its text. */
function describeActivity({ summary: { runningCalls, lastText }, retry }: TurnRun): string {
  if (retry) return `waiting for the model, attempt ${retry.attempt + 1} of ${retry.maxAttempts}`
  if (runningCalls.length > 0) return `running ${[...new Set(runningCalls)].join(', ')}`
  const line = lastText.slice(-ACTIVITY_SOURCE).trimEnd().split('\n').at(-1) ?? ''
  return collapseBlanks(maskCredentials(line, '***')).slice(0, ACTIVITY_CHARS)
}

const ACTIVITY_SOURCE = 2_000
const ACTIVITY_CHARS = 200

/** A conversation that is not stored has no title. */
function toInfo(
  { agent, pair, since, conversation, runId = '' }: RunningWork,
  summary: SessionSummary | undefined,
  { live, asks, now }: Pick<Services, 'asks' | 'live' | 'now'>,
): ActiveConversationInfo {
  const run = live.running().find(({ id }) => id === runId)
  const countMessages = () => conversation.history.messages.filter(({ role }) => role !== 'tool').length
  return {
    agent,
    sender: pair.sender,
    messageCount: summary?.messageCount ?? countMessages(),
    aliveSecs: Math.max(0, Math.round((now() - since) / 1000)),
    title: summary?.title ?? '',
    session: conversation.id,
    runId,
    detached: run?.detached ?? false,
    asks: asks.list(agent).filter((ask) => ask.runId === runId).length,
    cwd: summary?.cwd ?? '',
    preview: summary?.preview ?? '',
    activity: run ? describeActivity(run) : '',
  }
}
