import { relativeTime } from '../../core/base/relative-time.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { printRows, say } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/asks`: the questions that wait in any conversation; those that were put aside come up again. */
export async function showAsks(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { asks } = await request(context.dispatch, 'listAsks', {}, signal)
  if (asks.length === 0) return say(context, 'info', 'No question waits')
  const rows = asks.map(({ agent, sender, openedAt, ask }) => [
    `${agent}/${sender}`,
    ask?.permission?.action || ask?.questions[0]?.question || '',
    relativeTime(openedAt, context.ports.now()),
  ])
  printRows(context, 'Questions that wait', rows)
  const shown = context.state()
  for (const ask of asks) {
    const isHere = ask.agent === shown.agent && ask.sender === shown.sender
    if (!isHere) context.act({ type: 'ask-opened', ask })
  }
}
