import { pluralize } from '../../core/base/format.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { isWindowSender } from '../../core/base/sender-class.ts'
import type { ConversationInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { newPicker } from '../overlays/picker.ts'
import { titleFor } from '../state/title-for.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/new`: starts a new conversation. The scrollback stays, but the agent does not see it. */
export async function startNew(_args: string, context: SlashContext): Promise<void> {
  await context.startNewConversation()
}

/** `/resume [AGENT] [TEXT]`: lists the conversations of this agent or another one, with any sender. */
export async function resume(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { agent, filter } = await readResumeArguments(args, context, signal)
  const { conversations } = await request(context.dispatch, 'listConversations', { agent }, signal)
  if (conversations.length === 0) return printNotice(context, 'info', `${agent} has no conversations yet`)
  const items = conversations.map((info) => toItem(info, context))
  const title = `Conversations of ${agent}`
  showOverlay(context, newPicker({ picker: 'session', title, items, widerScope: 'conversations' }, filter))
}

/** `/title TEXT`: sets the title; without a text it shows the current one. */
export async function slashTitle(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { session, title } = context.state()
  if (args === '')
    return printNotice(
      context,
      'info',
      title === '' ? 'The conversation has no title yet' : `The title is "${title}"`,
    )
  if (session === undefined) return printNotice(context, 'warning', 'No conversation to name yet')
  const info = await request(context.dispatch, 'setTitle', { session, title: args }, signal)
  context.act({ type: 'set', change: { title: info.title } })
  printNotice(context, 'success', `Renamed to "${info.title}"`)
}

/** Reads the arguments of `/resume`: a first word that names an agent selects it; the rest filters. */
async function readResumeArguments(args: string, { dispatch, state }: SlashContext, signal: AbortSignal) {
  const [first = '', ...rest] = args.split(/\s+/)
  if (first === '') return { agent: state().agent, filter: '' }
  const { agents } = await request(dispatch, 'listAgents', {}, signal)
  const isAgent = agents.some(({ name }) => name === first)
  return isAgent ? { agent: first, filter: rest.join(' ') } : { agent: state().agent, filter: args }
}

function toItem(info: ConversationInfo, { ports, state }: SlashContext) {
  const { session } = state()
  const isCurrent = info.filePath === session
  const place = info.cwd === ports.cwd ? [] : [ports.abbreviate(info.cwd)]
  const who = isWindowSender(info.sender) ? [] : [info.sender]
  const count = pluralize(info.messageCount, 'message')
  const facts = [...describeActivity(info, isCurrent), relativeTime(info.updatedAt, ports.now()), count]
  return {
    value: info.filePath,
    label: titleFor(state(), info) || info.preview || 'no messages',
    detail: [...facts, ...who, info.agent, ...place].join(' · '),
    isCurrent,
  }
}

/** Says whether a conversation asks or runs, or is open in another window. */
function describeActivity({ asks, running, windows }: ConversationInfo, isCurrent: boolean): string[] {
  if (asks > 0) return ['asks']
  if (running) return ['running']
  return windows > (isCurrent ? 1 : 0) ? ['open in another window'] : []
}
