import { toCrabError } from '../../core/base/errors.ts'
import { classifySender } from '../../core/base/sender-class.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatOptions, ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import type { Feed } from './feed.ts'
import { findDirectoryConversations } from './find-conversations.ts'
import type { Opening } from './show-conversation.ts'

/** A conversation as clients address it. */
interface NamedPair {
  agent: string
  sender: string
}

export interface OpenContext {
  store: ChatStore
  ports: Pick<ChatPorts, 'dispatch' | 'cwd' | 'newSender' | 'memory'>
  feed: Feed
  options: Pick<ChatOptions, 'sender' | 'window'>
  /** Stops showing the running turn, which continues without this window. */
  leaveTurn(signal: AbortSignal): Promise<void>
}

/** Shows the first conversation of the chat: the requested one, otherwise the last one of its directory. */
export async function openInitialConversation(
  context: OpenContext,
  { session, fresh, agent, sender }: Pick<ChatOptions, 'session' | 'fresh' | 'agent' | 'sender'>,
  signal: AbortSignal,
): Promise<void> {
  if (session !== undefined) return openConversation(context, session, signal)
  if (fresh) return startNewConversation(context, agent, signal)
  if (context.options.window) return openDirectoryConversation(context, { agent, opening: 'first' }, signal)
  await context.feed.follow({ agent, sender }, { as: 'first' }, signal)
}

/** Switches to an agent: in the last conversation of this directory, or the one of the named sender. */
export async function openAgent(context: OpenContext, agent: string, signal: AbortSignal): Promise<void> {
  if (context.options.window) return openDirectoryConversation(context, { agent, opening: 'agent' }, signal)
  await leave(context, signal)
  await context.feed.follow({ agent, sender: context.options.sender }, { as: 'agent' }, signal)
}

/**
 * Opens the last conversation that an agent had with this user in this directory, unless another window has
 * it open; otherwise a new one.
 */
async function openDirectoryConversation(
  context: OpenContext,
  { agent, opening }: { agent: string; opening: 'first' | 'agent' },
  signal: AbortSignal,
): Promise<void> {
  const { ports, options } = context
  const at = { agent, cwd: ports.cwd, person: options.window?.person ?? '' }
  const { candidates, last } = await findDirectoryConversations(ports, at, signal)
  await leave(context, signal)
  for (const { sender, session } of candidates) {
    if (await isOpenedAlone(context, { agent, sender, session }, opening, signal)) return
  }
  const note = last === undefined ? '' : `${last} is open in another window`
  await context.feed.follow({ agent, sender: ports.newSender() }, { as: opening, note }, signal)
}

/** Opens a conversation unless another window has it open; returns whether it did. */
async function isOpenedAlone(
  context: OpenContext,
  { agent, sender, session }: NamedPair & { session: string | undefined },
  as: Opening['as'],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await context.feed.follow({ agent, sender }, { as, isExclusive: true, session }, signal)
    return true
  } catch (reason) {
    if (toCrabError(reason).kind !== 'conflict') throw reason
    return false
  }
}

/**
 * Makes a session the active one of its pair, prints its last messages, and continues there; while other
 * windows are open on the pair and continue in another session of it, in a copy with a sender of its own.
 * Throws, and leaves the current conversation open, when the session's agent no longer exists: a pair is
 * followed by the agent's name, and another agent may have taken that name.
 */
export async function openConversation(
  context: OpenContext,
  session: string,
  signal: AbortSignal,
): Promise<void> {
  const { dispatch } = context.ports
  const { pair, note } = await context.feed.hold(async () => {
    const isCopy = await isPairInUse(context, session, signal)
    const { agent, sender } = isCopy
      ? await request(dispatch, 'forkSession', { session, sender: context.ports.newSender() }, signal)
      : await request(dispatch, 'activateSession', { session }, signal)
    await leave(context, signal)
    return { pair: { agent, sender }, note: isCopy ? COPY_NOTE : '' }
  })
  await context.feed.follow(pair, { as: 'continued', note }, signal)
}

const COPY_NOTE = 'a copy: another window has a newer conversation of this address open'

/** Whether opening a session would move its pair away from what other windows show or a turn works on. */
async function isPairInUse(
  { store, ports }: OpenContext,
  session: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { agent, agentId, sender, active } = await request(ports.dispatch, 'getSession', { session }, signal)
  if (active) return false
  const { conversations } = await request(ports.dispatch, 'listConversations', { sender }, signal)
  const rows = conversations.filter((row) => row.agentId === agentId)
  const shown = store.get()
  const isOwn = shown.sender === sender && rows.some((row) => row.agent === shown.agent)
  const windows = Math.max(0, ...rows.map((row) => row.windows)) - (isOwn && shown.followers > 0 ? 1 : 0)
  return (
    windows > 0 || rows.some(({ running }) => running) || (isOwn && agent === shown.agent && !!shown.turn)
  )
}

/**
 * Starts a new conversation with a sender of its own, so that no other window changes; it is stored with its
 * first message. A sender that the user named is kept while nothing else uses it.
 */
export async function startNewConversation(
  context: OpenContext,
  agent: string,
  signal: AbortSignal,
): Promise<void> {
  const { ports, feed, options } = context
  const { sender } = options
  if (options.window || !(await isFree(context, { agent, sender }, signal))) {
    await leave(context, signal)
    const note = options.window ? '' : `another window keeps ${sender}`
    return await context.feed.follow({ agent, sender: ports.newSender() }, { as: 'new', note }, signal)
  }
  await feed.hold(async () => {
    const place = classifySender(sender) === 'local' ? { cwd: ports.cwd } : {}
    await request(ports.dispatch, 'newSession', { agent, sender, ...place }, signal)
    await leave(context, signal)
  })
  await context.feed.follow({ agent, sender }, { as: 'new' }, signal)
}

/** Whether no other window shows the pair and no turn of it is running. */
async function isFree({ store, ports }: OpenContext, pair: NamedPair, signal: AbortSignal): Promise<boolean> {
  const shown = store.get()
  const isShown = shown.agent === pair.agent && shown.sender === pair.sender && shown.followers > 0
  if (isShown) return shown.followers === 1 && !shown.turn
  const { conversations } = await request(ports.dispatch, 'listConversations', pair, signal).catch(
    (reason: unknown) => {
      if (toCrabError(reason).kind !== 'missing') throw reason
      return { conversations: [] } // an agent without a file yet
    },
  )
  return conversations.every(({ windows, running }) => windows === 0 && !running)
}

async function leave({ feed, leaveTurn }: OpenContext, signal: AbortSignal): Promise<void> {
  await leaveTurn(signal)
  feed.stop()
}
