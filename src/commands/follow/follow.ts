import type { AttachState, SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany } from '../../core/protocol/dispatch.ts'
import type { ConversationAddress } from './target.ts'
import type { FollowView } from './view.ts'

/** Which conversation is followed, and how much of what was said before is shown. */
interface FollowContext {
  dispatch: Dispatch
  address: ConversationAddress
  /** Messages; 0 for none. */
  lines: number
  view: FollowView
}

/**
 * Shows the last messages of a conversation, its running turn from the first event on, and then whatever any client does,
 * until the signal aborts. Throws what the other side reports.
 */
export async function printConversation(following: FollowContext, signal: AbortSignal): Promise<void> {
  const { dispatch, address, view } = following
  const shown = new PrintedMessages()
  for await (const { event } of requestMany(dispatch, 'attach', { ...address, afterSeq: 0 }, signal)) {
    if (event?.$case === 'state') await showState(following, { state: event.value, shown }, signal)
    if (event?.$case === 'message') {
      shown.add(event.value)
      await view.userMessage(event.value)
    }
    if (event?.$case === 'stream' && event.value.event) await view.event(event.value.event)
  }
}

/** What has been told already. */
class PrintedMessages {
  /** Undefined: nothing has. */
  session: string | undefined
  #lines = new Set<number>()

  add({ seq }: SessionMessage): void {
    this.#lines.add(seq)
  }

  has({ seq }: SessionMessage): boolean {
    return this.#lines.has(seq)
  }

  /** Begins with another session, or says that it is the same, or that of a pair which had none. */
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
    const past = await lastMessages(dispatch, { session, upto: state.upto, lines }, signal)
    for (const message of past) if (!shown.has(message)) await view.history(message)
  }
  shown.clear()
  const isCutOff = state.runId !== '' && state.resumedAfter === state.seq
  if (isCutOff) for (const ask of state.asks) await view.pendingAsk(ask)
}

/** The last messages up to a line, oldest first, with the results of tools between them. */
async function lastMessages(
  dispatch: Dispatch,
  { session, upto, lines }: { session: string; upto: number; lines: number },
  signal: AbortSignal,
): Promise<SessionMessage[]> {
  const found: SessionMessage[] = []
  let spoken = 0
  if (lines === 0) return found
  const { total } = await request(dispatch, 'listMessages', { session, offset: 0, limit: 1 }, signal)
  for (let end = total; end > 0; ) {
    const offset = Math.max(0, end - PAGE)
    for (const message of await messagesBetween(dispatch, { session, offset, end }, signal)) {
      if (message.seq > upto) continue
      found.push(message)
      if (message.role !== 'tool' && ++spoken === lines) return found.reverse()
    }
    end = offset
  }
  return found.reverse()
}

/** Newest first. */
async function messagesBetween(
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
