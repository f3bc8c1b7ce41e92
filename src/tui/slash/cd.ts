import { request } from '../../core/protocol/dispatch.ts'
import { describeMode, resetMode } from '../state/modes.ts'
import { findDirectory } from './add-dir.ts'
import { printNotice } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/cd DIR`: changes the working directory of this window and its conversation; without DIR, shows it. */
export async function changeDirectory(
  args: string,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { ports, dispatch, act } = context
  const { session } = context.state()
  if (args === '') return printNotice(context, 'info', `The working directory is ${ports.shownCwd}`)
  const cwd = await findDirectory(args, context, signal)
  if (cwd === undefined)
    return printNotice(context, 'warning', `Cannot change to ${args}: it is not a directory`)
  if (session !== undefined) await request(dispatch, 'setSessionCwd', { session, cwd }, signal)
  const isOther = cwd !== ports.cwd
  await ports.enter(cwd)
  act({ type: 'set', change: { branch: await ports.branch().catch(() => undefined) } })
  const state = context.state()
  const endsEdits = isOther && state.chosenMode === 'edits' // they were allowed for the directory before
  if (endsEdits) act({ type: 'set', change: resetMode(state) })
  const hint = endsEdits ? describeMode(context.state().mode) : undefined
  printNotice(context, 'success', `The working directory is now ${ports.shownCwd}`, hint)
}
