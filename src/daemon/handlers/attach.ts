import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type {
  Attach,
  AttachEvent,
  AttachState,
  SessionInfo,
  SessionMessage,
} from '../../core/protocol/crabtalk.generated.ts'
import { turnLeaseName } from '../../core/runtime/leased-conversation.ts'
import { type ConversationSnapshot, followConversation } from '../../core/runtime/live/follow.ts'
import type { JournalMessage } from '../../core/runtime/live/journal.ts'
import type { Pair, Storage } from '../../core/storage/types.ts'
import type { Services } from '../services.ts'
import { toAskInfo } from './asks.ts'
import { getSession, toSessionMessage } from './conversations.ts'
import type { RequestContext } from './request-context.ts'
import { resolvePair } from './steering.ts'
import { toWireEvent } from './stream-events.ts'

/**
 * Handles `attach`: yields the state of a conversation, then every event of it in this process, until the
 * client leaves.
 */
export async function* attachTo(
  { services, channel }: RequestContext<AttachNeeds>,
  message: Attach,
  signal: AbortSignal,
): AsyncGenerator<AttachEvent> {
  const { journals, live, stores } = services
  await ensureDefaultAgentId(services, message)
  const pair = await resolvePair(services, message)
  const at = { journals, live, storage: stores.storage }
  const mode = { isWindow: message.window, isExclusive: message.exclusive }
  let followers = 0
  await using _followed = await services.followers.enter(pair, mode, signal)
  for await (const item of followConversation({ pair, afterSeq: message.afterSeq }, at, signal)) {
    if (item.type === 'event') {
      yield { event: { $case: 'stream', value: { seq: item.seq, event: toWireEvent(item.event, channel) } } }
    } else if (item.type === 'message') {
      yield { event: { $case: 'message', value: toMessage(item.message) } }
    } else {
      const value = await toState({ services, channel }, pair, item.snapshot)
      if (item.isFollowers && (!message.window || value.followers === followers)) continue
      followers = value.followers
      yield { event: { $case: 'state', value } }
    }
  }
}

type AttachNeeds = 'agents' | 'stores' | 'asks' | 'live' | 'journals' | 'followers' | 'findHolder'

/**
 * Assigns the default agent its id, which otherwise happens in the first turn of a home: a client that
 * follows before that turn needs it.
 */
async function ensureDefaultAgentId({ agents }: Pick<Services, 'agents'>, { agent }: Attach): Promise<void> {
  if (agent !== '' && agent !== DEFAULT_AGENT) return
  await agents.get(DEFAULT_AGENT).catch(() => undefined) // an agent with an invalid file has an id, too
}

async function toState(
  {
    services: { asks, live, stores, followers, findHolder },
    channel,
  }: RequestContext<'stores' | 'asks' | 'live' | 'followers' | 'findHolder'>,
  pair: Pair,
  { session, runId, seq, resumedAfter, upto, isUnfinished, contextTokens }: ConversationSnapshot,
): Promise<AttachState> {
  const run = live.running().find(({ id }) => id === runId)
  // A turn without an end may be running in another process.
  const isHeld =
    isUnfinished && session !== undefined && (await findHolder(turnLeaseName(session))) !== undefined
  const waiting = run?.start ? asks.list(run.start.primary.name) : []
  return {
    session: session === undefined ? undefined : await readActiveInfo(stores.storage, pair, session),
    runId,
    seq,
    asks: waiting.filter(({ sender }) => sender === pair.sender).map((ask) => toAskInfo(ask, channel)),
    resumedAfter,
    upto,
    followers: followers.count(pair).clients,
    unfinished: isUnfinished && !isHeld,
    contextTokens,
    runStartedAt: run?.startedAt === undefined ? '' : new Date(run.startedAt).toISOString(),
  }
}

/**
 * Returns what `getSession()` would for an active session, but from the listing: followers ask often, and a
 * session may be long.
 */
async function readActiveInfo(storage: Storage, pair: Pair, session: string): Promise<SessionInfo> {
  const listed = (await storage.listSessions(pair)).find(({ id }) => id === session)
  if (!listed) return await getSession(storage, session)
  const { archiveCount: _, activeSince: __, forkedFrom = '', ...known } = listed
  return { ...known, forkedFrom, active: true }
}

function toMessage({ line, content, attachments, at }: JournalMessage): SessionMessage {
  const ts = new Date(at).toISOString()
  return toSessionMessage({
    kind: 'entry',
    role: 'user',
    content,
    attachments: [...attachments],
    seq: line,
    ts,
  })
}
