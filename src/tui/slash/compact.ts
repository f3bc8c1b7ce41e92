import { pluralize } from '../../core/base/format.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { CHARS_PER_TOKEN, formatCount, formatUsd } from '../view/numbers.ts'
import { printNotice, printTitled } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/compact`: replaces the history with a summary. Nothing is lost: the history goes into an archive. */
export async function slashCompact(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { agent, sender, session, chosenModel = '' } = context.state()
  if (session === undefined) return printNotice(context, 'info', 'Nothing to compact yet')
  printNotice(context, 'info', 'Compacting the conversation: a model writes a summary…')
  const done = await context.hold(async () => {
    const compacted = await request(
      context.dispatch,
      'compact',
      { agent, sender, model: chosenModel },
      signal,
    )
    const usage = { ...context.state().usage, last: undefined }
    const { summary } = await request(context.dispatch, 'getSession', { session }, signal)
    context.act({ type: 'set', change: { usage, summary } })
    return compacted
  })
  const size = `about ${formatCount(Math.ceil(done.summary.length / CHARS_PER_TOKEN))} tokens instead of the history`
  const cost = done.costUsd === undefined ? [] : [formatUsd(done.costUsd)]
  const place = done.archive === '' ? [] : [`archived as ${done.archive}`]
  const title = ['Compacted', size, ...place, ...cost].join(' · ')
  printTitled(context, title, takeFirstLines(done.summary))
}

const SHOWN_LINES = 8

function takeFirstLines(summary: string): string {
  const lines = summary.trim().split('\n')
  const rest = lines.length - SHOWN_LINES
  return rest <= 0
    ? lines.join('\n')
    : [...lines.slice(0, SHOWN_LINES), `… ${pluralize(rest, 'more line')}`].join('\n')
}
