import { classifySender } from '../../core/base/sender-class.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatOptions, ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import type { Feed } from './feed.ts'

interface OpenContext {
  store: ChatStore
  ports: Pick<ChatPorts, 'dispatch' | 'cwd'>
  feed: Feed
}

/** Shows the first conversation of the chat: the requested one, otherwise the pair's active one, if any. */
export async function openInitialConversation(
  context: OpenContext,
  { session, fresh, agent, sender }: Pick<ChatOptions, 'session' | 'fresh' | 'agent' | 'sender'>,
  signal: AbortSignal,
): Promise<void> {
  if (session !== undefined) return openConversation(context, session, signal)
  if (fresh) return startNewConversation(context, { agent, sender }, signal)
  await context.feed.follow({ agent, sender }, 'first', signal)
}

/**
 * Makes a session the active one of its pair, prints its last messages, and continues there. Throws, and
 * leaves the current conversation open, when the session's agent no longer exists: a pair is followed by the
 * agent's name, and another agent may have taken that name.
 */
export async function openConversation(
  { ports: { dispatch }, feed }: OpenContext,
  session: string,
  signal: AbortSignal,
): Promise<void> {
  const pair = await feed.hold(async () => {
    const { agent, sender } = await request(dispatch, 'activateSession', { session }, signal)
    feed.stop()
    return { agent, sender }
  })
  await feed.follow(pair, 'continued', signal)
}

/** Starts a new conversation of a pair. It is stored with its first message. */
export async function startNewConversation(
  { ports: { dispatch, cwd }, feed }: OpenContext,
  { agent, sender }: { agent: string; sender: string },
  signal: AbortSignal,
): Promise<void> {
  await feed.hold(async () => {
    const place = classifySender(sender) === 'local' ? { cwd } : {}
    await request(dispatch, 'newSession', { agent, sender, ...place }, signal)
    feed.stop()
  })
  await feed.follow({ agent, sender }, 'new', signal)
}
