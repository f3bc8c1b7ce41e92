import { formatCount, formatUsd } from '../../core/base/format.ts'
import type { CompactResponse } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { UNDO_COMPACTION_HINT, withSize } from '../state/compaction.ts'
import { modelToName } from '../state/model-choice.ts'
import { printNotice, printTitled, takeFirstLines } from './print.ts'
import type { SlashContext } from './types.ts'

/**
 * `/compact [FOCUS]`: replaces the history with a summary, for which the text is a wish; `/compact undo` brings the
 * messages back. Nothing is lost: the history goes into an archive.
 */
export async function slashCompact(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { session } = context.state()
  if (args === UNDO && session !== undefined) return await undoCompaction(session, context, signal)
  if (session === undefined) return printNotice(context, 'info', 'Nothing to compact yet')
  await compact({ session, focus: args }, context, signal)
}

const UNDO = 'undo'

async function compact(
  { session, focus }: { session: string; focus: string },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { agent, sender, usage } = context.state()
  printNotice(context, 'info', 'Compacting the conversation: a model writes a summary…')
  const done = await context.hold(async () => {
    const model = modelToName(context.state())
    const compacted = await request(context.dispatch, 'compact', { agent, sender, model, focus }, signal)
    const { summary } = await request(context.dispatch, 'getSession', { session }, signal)
    const { after } = measure(compacted, usage.last?.totalTokens)
    context.act({ type: 'set', change: { usage: withSize(context.state().usage, after), summary } })
    return compacted
  })
  const { before, after } = measure(done, usage.last?.totalTokens)
  const size = `${formatCount(before)} → ${formatCount(after)} tokens`
  const cost = done.costUsd === undefined ? [] : [formatUsd(done.costUsd)]
  const title = [`Compacted: ${size}`, ...cost].join(' · ')
  printTitled(context, title, `${takeFirstLines(done.summary, SHOWN_LINES)}\n${UNDO_COMPACTION_HINT}`)
}

/** Returns the size of the conversation before and after, based on what the provider counted, if it did. */
function measure({ before, after }: CompactResponse, counted: number | undefined) {
  if (!counted) return { before, after }
  return { before: counted, after: Math.max(after, counted - (before - after)) }
}

async function undoCompaction(session: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  await context.hold(async () => {
    const { summary } = await request(context.dispatch, 'undoCompaction', { session }, signal)
    const usage = { ...context.state().usage, last: undefined }
    context.act({ type: 'set', change: { usage, summary } })
  })
  printNotice(context, 'success', 'The compaction is undone: the agent sees all messages again')
}

const SHOWN_LINES = 8
