import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type {
  Attach,
  AttachEvent,
  AttachState,
  SessionInfo,
  SessionMessage,
} from '../../core/protocol/crabtalk.generated.ts'
import { type ConversationSnapshot, followConversation } from '../../core/runtime/live/follow.ts'
import type { JournalMessage } from '../../core/runtime/live/journal.ts'
import type { Pair, Storage } from '../../core/storage/types.ts'
import type { Services } from '../services.ts'
import { toAskInfo } from './asks.ts'
import { getSession, toSessionMessage } from './conversations.ts'
import type { RequestContext } from './request-context.ts'
import { resolvePair } from './steering.ts'
import { toWireEvent } from './stream-events.ts'

/** `attach`: a conversation as it stands, then everything that happens to it in this process, until the client leaves. */
export async function* attachTo(
  { services, channel }: RequestContext,
  message: Attach,
  signal: AbortSignal,
): AsyncGenerator<AttachEvent> {
  const { journals, live, place } = services
  await keepDefaultAgent(services, message)
  const pair = await resolvePair(services, message)
  const at = { journals, live, storage: place.storage }
  for await (const told of followConversation({ pair, afterSeq: message.afterSeq }, at, signal)) {
    if (told.type === 'event') {
      yield { event: { $case: 'stream', value: { seq: told.seq, event: toWireEvent(told.event, channel) } } }
    } else if (told.type === 'message') {
      yield { event: { $case: 'message', value: toMessage(told.message) } }
    } else {
      yield { event: { $case: 'state', value: await toState({ services, channel }, pair, told.standing) } }
    }
  }
}

/** The first turn of a home gives its agent an id; whoever follows from before that must know it. */
async function keepDefaultAgent({ agents }: Services, { agent }: Attach): Promise<void> {
  if (agent !== '' && agent !== DEFAULT_AGENT) return
  await agents.get(DEFAULT_AGENT).catch(() => undefined) // a file that cannot be used has an id, too
}

async function toState(
  { services: { asks, live, place }, channel }: RequestContext,
  pair: Pair,
  { session, runId, seq, resumedAfter, upto }: ConversationSnapshot,
): Promise<AttachState> {
  const run = live.running().find(({ id }) => id === runId)
  const waiting = run?.start ? asks.list(run.start.primary.name) : []
  return {
    session: session === undefined ? undefined : await activeInfo(place.storage, pair, session),
    runId,
    seq,
    asks: waiting.filter(({ sender }) => sender === pair.sender).map((ask) => toAskInfo(ask, channel)),
    resumedAfter,
    upto,
  }
}

/** As getSession() has it of an active session, from what listings know: followers ask often, and a session may be long. */
async function activeInfo(storage: Storage, pair: Pair, session: string): Promise<SessionInfo> {
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
