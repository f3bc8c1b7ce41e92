import type { SessionInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatOptions, ChatPorts } from '../ports.ts'
import { toBlocks } from '../state/past.ts'
import type { ChatStore } from '../state/store.ts'

interface Setting {
  store: ChatStore
  ports: ChatPorts
}

/** Messages of an earlier conversation that are printed when it is opened; the transcript shows all. */
const SHOWN_MESSAGES = 24

/** Shows the conversation the chat begins with: the one asked for, else the pair's active one, if there is any. */
export async function openFirst(
  setting: Setting,
  { session, fresh, agent, sender, cwd }: ChatOptions & { cwd: string },
  signal: AbortSignal,
): Promise<void> {
  const { dispatch } = setting.ports
  if (session !== undefined) return openConversation(setting, session, signal)
  if (fresh) return startAnew(setting, { agent, sender, cwd }, signal)
  const { conversations } = await request(dispatch, 'listConversations', { agent, sender }, signal)
  const newest = conversations[0]
  if (newest) await openConversation(setting, newest.filePath, signal)
}

/** Makes a session the active one of its pair, prints its last messages, and goes on there. */
export async function openConversation(
  { store, ports: { dispatch, cwd } }: Setting,
  session: string,
  signal: AbortSignal,
): Promise<void> {
  const known = await request(dispatch, 'getSession', { session }, signal)
  if (!known.active) await request(dispatch, 'activateSession', { session }, signal)
  const { total } = await request(dispatch, 'listMessages', { session, offset: 0, limit: 1 }, signal)
  const offset = Math.max(0, total - SHOWN_MESSAGES)
  const { messages } = await request(
    dispatch,
    'listMessages',
    { session, offset, limit: SHOWN_MESSAGES },
    signal,
  )
  const { agent, sender, title } = known
  store.act({ type: 'conversation', agent, sender, session, title })
  if (offset > 0)
    store.act({ type: 'print', block: { kind: 'rule', text: `${offset} earlier messages: Ctrl+O` } })
  for (const block of toBlocks(messages)) store.act({ type: 'print', block })
  store.act({ type: 'print', block: { kind: 'rule', text: continued(known, cwd) } })
}

/** Begins a new conversation of a pair; it is stored with its first message. */
export async function startAnew(
  { store, ports: { dispatch } }: Setting,
  { agent, sender, cwd }: { agent: string; sender: string; cwd: string },
  signal: AbortSignal,
): Promise<void> {
  const { id: session } = await request(dispatch, 'newSession', { agent, sender, cwd }, signal)
  store.act({ type: 'conversation', agent, sender, session, title: '' })
  store.act({ type: 'print', block: { kind: 'rule', text: 'new conversation' } })
}

/** That an earlier conversation goes on, and from where when that is another place. */
function continued({ title, cwd: begunIn }: Pick<SessionInfo, 'title' | 'cwd'>, cwd: string): string {
  const what = title === '' ? 'continued' : `continued: ${title}`
  const from = begunIn === cwd ? '' : ` · begun in ${begunIn}`
  return `${what}${from} · /new begins another`
}
