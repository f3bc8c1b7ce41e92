import { request } from '../../core/protocol/dispatch.ts'
import { printNotice } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/fork [TITLE]`: continues in a copy of the conversation; the original stays as it is. */
export async function slashFork(title: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { session } = context.state()
  if (session === undefined) return printNotice(context, 'info', 'No conversation to fork yet')
  await forkAt({ session, before: 0, title }, context, signal)
}

/** Copies a conversation up to the line `before`, all of it for 0, and continues in the copy. */
export async function forkAt(
  { session, before, title }: { session: string; before: number; title: string },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const sender = context.ports.newSender() // so that no other window moves
  const { id } = await request(context.dispatch, 'forkSession', { session, before, sender }, signal)
  if (title !== '') await request(context.dispatch, 'setTitle', { session: id, title }, signal)
  await context.openConversation(id)
  printNotice(context, 'success', 'Forked: this is a copy', '/resume opens the original')
}
