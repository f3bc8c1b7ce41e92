import { toTypedText } from '../../core/base/typed-message.ts'
import type { AttachState } from '../../core/protocol/crabtalk.generated.ts'
import type { ChatPorts, StoredDraft, UnreadSteer } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import type { SentText } from '../text/history.ts'
import { withDraft } from '../text/prompt-state.ts'
import { fetchLastMessages } from './last-messages.ts'

/**
 * Puts what a killed window has left unsent in a conversation into the composer: messages for its turn that were
 * never read, queued messages, and the draft. Messages that the same turn may still read continue to wait for it.
 * What a window that still has the conversation open has not sent stays there.
 */
export async function restoreDraft(
  { store, ports }: { store: ChatStore; ports: Pick<ChatPorts, 'dispatch' | 'memory'> },
  { pair, state }: { pair: { agent: string; sender: string }; state: AttachState },
  signal: AbortSignal,
): Promise<void> {
  if (state.followers > 1) return
  const { memory } = ports
  const drafts = await memory.readDrafts()
  const found = drafts.find(({ agent, sender }) => agent === pair.agent && sender === pair.sender)
  if (!found) return
  const { runId = '' } = found
  const { steers, queue } = await findUnread(found, { state, dispatch: ports.dispatch }, signal)
  const isWaiting = runId !== '' && runId === state.runId
  const sent = isWaiting ? steers.filter(({ content }) => content !== undefined) : []
  const unsent = [...steers.filter((steer) => !sent.includes(steer)), ...queue]
  const parts = found.text === '' ? unsent : [...unsent, found]
  store.act({ type: 'set', change: { prompt: parts.reduceRight(withDraft, store.get().prompt) } })
  for (const { text, content = '' } of sent) store.act({ type: 'steered', text, content })
  if (unsent.length > 0) store.act({ type: 'print', block: RESTORED })
  await memory.removeDraft(found.id)
}

const RESTORED = {
  kind: 'notice',
  tone: 'info',
  text: 'Messages that a closed window did not send are back in the prompt',
} as const

/**
 * Returns the steers and queued messages of a draft that no turn has read, neither before the window was closed
 * nor since: a window may be killed between sending a message and removing it from its file.
 */
async function findUnread(
  { steers = [], queue = [], savedAt }: StoredDraft,
  { state, dispatch }: { state: AttachState; dispatch: ChatPorts['dispatch'] },
  signal: AbortSignal,
): Promise<{ steers: readonly UnreadSteer[]; queue: readonly SentText[] }> {
  const { session, upto } = state
  if (steers.length + queue.length === 0 || !session) return { steers, queue }
  const tail = { session: session.id, upto, most: MAX_SEARCHED }
  const { messages } = await fetchLastMessages(dispatch, tail, signal)
  const read = messages
    .filter(({ role, ts }) => role === 'user' && Date.parse(ts) >= savedAt - CLOCK_MS)
    .map(({ content }) => toTypedText(content))
  const isUnread = (content: string | undefined) => {
    const at = content === undefined ? -1 : read.indexOf(toTypedText(content))
    if (at >= 0) read.splice(at, 1)
    return at < 0
  }
  return {
    steers: steers.filter(({ content }) => isUnread(content)),
    queue: queue.filter(({ text }) => isUnread(text)),
  }
}

/** The number of last messages in which an unread steer is looked for. */
const MAX_SEARCHED = 200
/** The most that the time of a message may be before that of the file that was written after it. */
const CLOCK_MS = 5_000
