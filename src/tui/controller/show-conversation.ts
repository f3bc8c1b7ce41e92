import type { AttachState, SessionInfo } from '../../core/protocol/crabtalk.generated.ts'
import type { ChatPorts } from '../ports.ts'
import { toBlocks } from '../state/history-blocks.ts'
import type { ChatStore } from '../state/store.ts'
import { titleFor } from '../state/title-for.ts'
import type { Block } from '../view/blocks.ts'
import { fetchLastMessages } from './last-messages.ts'

/**
 * The reason a conversation is shown: the chat starts; the user asked for it, for a new one, or for another
 * agent; or another client switched to it.
 */
export type Opening = 'first' | 'continued' | 'new' | 'agent' | 'elsewhere'

interface ShowContext {
  store: ChatStore
  ports: Pick<ChatPorts, 'dispatch' | 'cwd'>
}

/** The number of earlier messages that are printed when a conversation is opened; the transcript shows all. */
const SHOWN_MESSAGES = 24

/** Switches the chat to a conversation and prints its last messages. */
export async function showConversation(
  { store, ports: { dispatch, cwd } }: ShowContext,
  { pair, state, opening }: { pair: { agent: string; sender: string }; state: AttachState; opening: Opening },
  signal: AbortSignal,
): Promise<void> {
  const { session: info, upto } = state
  const tail = info && { session: info.id, upto, most: SHOWN_MESSAGES }
  const { messages, earlier } = tail
    ? await fetchLastMessages(dispatch, tail, signal)
    : { messages: [], earlier: 0 }
  const { id: session, summary = '' } = info ?? { id: undefined }
  const title = info ? titleFor(store.get(), info) : ''
  store.act({ type: 'conversation', ...pair, session, title, summary })
  const print = (block: Block) => store.act({ type: 'print', block })
  if (earlier > 0) print({ kind: 'rule', text: `${earlier} earlier messages: Ctrl+O` })
  for (const block of toBlocks(messages)) print(block)
  const text =
    info && messages.length > 0
      ? describeContinued({ ...info, title }, cwd, opening)
      : describeStart(pair.agent, opening)
  if (text !== '') print({ kind: 'rule', text })
}

/** Says that an earlier conversation continues, and in which directory it started when that is another one. */
function describeContinued(
  { title, cwd: startedIn }: Pick<SessionInfo, 'title' | 'cwd'>,
  cwd: string,
  opening: Opening,
): string {
  const what = title === '' ? 'continued' : `continued: ${title}`
  const who = opening === 'elsewhere' ? ' · opened in another window' : ''
  const from = startedIn === cwd ? '' : ` · started in ${startedIn}`
  return `${what}${who}${from} · /new starts a new one`
}

function describeStart(agent: string, opening: Opening): string {
  if (opening === 'first') return ''
  if (opening === 'agent') return `${agent}: new conversation`
  return opening === 'elsewhere' ? 'new conversation, started in another window' : 'new conversation'
}
