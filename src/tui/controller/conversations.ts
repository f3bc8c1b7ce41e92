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

/** Shows the conversation the chat begins with: the one asked for, else the pair's active one, if there is any. */
export async function openInitialConversation(
  setting: OpenContext,
  { session, fresh, agent, sender }: Pick<ChatOptions, 'session' | 'fresh' | 'agent' | 'sender'>,
  signal: AbortSignal,
): Promise<void> {
  if (session !== undefined) return openConversation(setting, session, signal)
  if (fresh) return startNewConversation(setting, { agent, sender }, signal)
  await setting.feed.follow({ agent, sender }, 'first', signal)
}

/**
 * Makes a session the active one of its pair, prints its last messages, and goes on there. Throws, and leaves what is
 * open, when its agent is gone: a pair is followed by the agent's name, which may be another's by now.
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

/** Begins a new conversation of a pair; it is stored with its first message. */
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
