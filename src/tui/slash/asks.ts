import { relativeTime } from '../../core/base/relative-time.ts'
import type { AskInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { toAskLine } from '../../core/questions/subject.ts'
import { newPicker } from '../overlays/picker.ts'
import type { PickerItem } from '../overlays/types.ts'
import { describePlace, findRunName, isCurrent } from '../state/pending-asks.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/**
 * `/asks`: lists the pending questions of other conversations. Choosing one opens its conversation, which
 * shows its card.
 */
export async function showAsks(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { asks } = await request(context.dispatch, 'listAsks', {}, signal)
  const shown = context.state()
  const others = asks.filter(({ agent, sender }) => !isCurrent(shown, { pair: { agent, sender } }))
  if (asks.length === 0) return printNotice(context, 'info', 'No pending questions')
  if (others.length === 0)
    return printNotice(context, 'info', 'The only pending question is the one on the card')
  const items = withoutEqualLabels(others.map((info) => toItem(info, context)))
  showOverlay(context, newPicker({ picker: 'session', title: 'Pending questions', items }))
}

function toItem({ agent, sender, session, openedAt, ask }: AskInfo, { ports, state }: SlashContext) {
  const what = ask ? toAskLine(ask) : ''
  const where = `${agent}${describePlace(sender, findRunName(state(), { agent, sender }))}`
  const since = relativeTime(openedAt, ports.now())
  const id = ask?.askId.slice(-ID_CHARS) ?? ''
  const command = `crabtalk answer ${id}`
  return {
    where,
    id,
    value: session,
    label: what || where,
    detail: [where, since, command].join(' · '),
    isCurrent: false,
  }
}

/** Adds the conversation to labels that are equal, or the id of the question where that is equal, too. */
function withoutEqualLabels(items: readonly ReturnType<typeof toItem>[]): PickerItem[] {
  return items.map(({ where, id, ...item }) => {
    const equal = items.filter(({ label }) => label === item.label)
    if (equal.length === 1) return item
    const isUnique = equal.filter((one) => one.where === where).length === 1
    return { ...item, label: `${item.label} · ${isUnique ? where : id}` }
  })
}

/** The number of id characters that the command line accepts and shows. */
const ID_CHARS = 8
