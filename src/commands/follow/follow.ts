import type { ConversationAddress } from '../../cli/conversation-address.ts'
import type { AttachState, SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany } from '../../core/protocol/dispatch.ts'
import type { FollowView } from './view.ts'

/** The conversation to follow, and how many of its earlier messages to show. */
interface FollowContext {
  dispatch: Dispatch
  address: ConversationAddress
  /** The number of messages; 0 for none. */
  lines: number
  view: FollowView
}

/**
 * Prints the last messages of a conversation, its running turn from the first event on, and then what any
 * client does, until the signal aborts. Throws the errors that the daemon reports.
 */
export async function printConversation(context: FollowContext, signal: AbortSignal): Promise<void> {
  const { dispatch, address, view } = context
  const shown = new PrintedMessages()
  for await (const { event } of requestMany(dispatch, 'attach', { ...address, afterSeq: 0 }, signal)) {
    if (event?.$case === 'state') await showState(context, { state: event.value, shown }, signal)
    if (event?.$case === 'message') {
      shown.add(event.value)
      await view.userMessage(event.value)
    }
    if (event?.$case === 'stream' && event.value.event) await view.event(event.value.event)
  }
}

/** The session and the messages that were printed already. */
class PrintedMessages {
  /** Undefined until a session was printed. */
  session: string | undefined
  #lines = new Set<number>()

  add({ seq }: SessionMessage): void {
    this.#lines.add(seq)
  }

  has({ seq }: SessionMessage): boolean {
    return this.#lines.has(seq)
  }

  /**
   * Switches to a session, and returns whether it is the first one, another one, or the same; the first
   * session of a pair that had none counts as the same.
   */
  switchSession(session: string): 'first' | 'other' | 'same' {
    const before = this.session
    this.session = session
    if (before === undefined) return 'first'
    return before === session || before === '' ? 'same' : 'other'
  }

  clear(): void {
    this.#lines = new Set()
  }
}

async function showState(
  { dispatch, lines, view }: FollowContext,
  { state, shown }: { state: AttachState; shown: PrintedMessages },
  signal: AbortSignal,
): Promise<void> {
  const session = state.session?.id ?? ''
  const entered = shown.switchSession(session)
  await view.state(state, entered === 'other')
  if (entered === 'same') return
  if (session !== '') {
    const past = await readLastMessages(dispatch, { session, upto: state.upto, lines }, signal)
    for (const message of past) if (!shown.has(message)) await view.history(message)
  }
  shown.clear()
  const isCutOff = state.runId !== '' && state.resumedAfter === state.seq
  if (isCutOff) for (const ask of state.asks) await view.pendingAsk(ask)
}

/**
 * Returns the last messages up to a line, oldest first; the results of tools between them are included but
 * not counted.
 */
async function readLastMessages(
  dispatch: Dispatch,
  { session, upto, lines }: { session: string; upto: number; lines: number },
  signal: AbortSignal,
): Promise<SessionMessage[]> {
  const found: SessionMessage[] = []
  let messageCount = 0
  if (lines === 0) return found
  const { total } = await request(dispatch, 'listMessages', { session, offset: 0, limit: 1 }, signal)
  for (let end = total; end > 0; ) {
    const offset = Math.max(0, end - PAGE)
    for (const message of await readMessagesBetween(dispatch, { session, offset, end }, signal)) {
      if (message.seq > upto) continue
      found.push(message)
      if (message.role !== 'tool' && ++messageCount === lines) return found.reverse()
    }
    end = offset
  }
  return found.reverse()
}

/** Returns the messages, newest first. */
async function readMessagesBetween(
  dispatch: Dispatch,
  { session, offset, end }: { session: string; offset: number; end: number },
  signal: AbortSignal,
): Promise<SessionMessage[]> {
  const found: SessionMessage[] = []
  while (offset + found.length < end) {
    const from = offset + found.length
    const page = { session, offset: from, limit: end - from }
    const { messages } = await request(dispatch, 'listMessages', page, signal)
    if (messages.length === 0) break
    found.push(...messages)
  }
  return found.reverse()
}

const PAGE = 50
