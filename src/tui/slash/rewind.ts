import { MAX_AUTO_TITLE, toAutoTitle } from '../../core/base/auto-title.ts'
import { pluralize } from '../../core/base/format.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { collapseBlanks } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { readTypedMessage, wrapShellLine } from '../../core/base/typed-message.ts'
import type { RewindPoint, RewindResult } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { outcomeWord } from '../../core/protocol/undo-words.ts'
import { newPicker } from '../overlays/picker.ts'
import type { PickerItem } from '../overlays/types.ts'
import { withSent } from '../text/prompt-state.ts'
import { forkAt } from './fork.ts'
import { printNotice, printRows, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/rewind`: lists the user's messages, newest first, to go back to one or to fork there. */
export async function slashRewind(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { session } = context.state()
  const points = session === undefined ? [] : await fetchPoints(session, context, signal)
  if (points.length === 0) return printNotice(context, 'info', 'No message to go back to yet')
  const items = points.map((point) => toItem(point, context.ports.now()))
  showOverlay(context, newPicker({ picker: 'rewind', title: 'Go back to', items }, args))
}

/** Offers the ways to go back to the chosen message. */
export async function chooseRewind(value: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { session = '' } = context.state()
  const point = (await fetchPoints(session, context, signal)).find(({ seq }) => seq === Number(value))
  if (!point) return warnGone(context)
  const title = `Go back to "${toShortLabel(point)}"`
  showOverlay(context, newPicker({ picker: 'rewind-how', title, items: ways(point) }))
}

/** Carries out a way to go back; `value` is the line of the message and the way. */
export async function applyRewind(value: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const [seq = '', way = ''] = value.split(' ')
  const { session = '' } = context.state()
  const to = Number(seq)
  if (way === 'fork') return await forkBefore(to, { session, context }, signal)
  const [files, keepMessages] = [way !== 'conversation', way === 'files']
  const result = await context.hold(() =>
    request(context.dispatch, 'rewind', { session, to, files, keepMessages }, signal),
  )
  if (files) printFiles(result, context, keepMessages)
  if (keepMessages) return
  const { prompt, usage } = context.state()
  const text = context.putBack(takeTyped(result, context), result.attachments)
  const change = { prompt: withSent(prompt, text), usage: { ...usage, last: undefined } }
  context.act({ type: 'set', change })
}

/** Continues in a copy that ends before a message, with its text in the composer. */
async function forkBefore(
  seq: number,
  { session, context }: { session: string; context: SlashContext },
  signal: AbortSignal,
): Promise<void> {
  const point = (await fetchPoints(session, context, signal)).find((known) => known.seq === seq)
  if (!point) return warnGone(context)
  const message = await request(context.dispatch, 'rewind', { session, to: seq, dryRun: true }, signal)
  await forkAt({ session, before: seq, title: '' }, context, signal)
  const text = takeTyped(message, context)
  context.act({ type: 'set', change: { prompt: withSent(context.state().prompt, text) } })
}

/** Returns a message as it was typed; the output of its shell lines is sent along again. */
function takeTyped({ content }: Pick<RewindResult, 'content'>, { addContext }: SlashContext): string {
  const { shellLines, text } = readTypedMessage(content)
  for (const line of shellLines) addContext(wrapShellLine(line))
  return text
}

function warnGone(context: SlashContext): void {
  printNotice(context, 'warning', 'The agent no longer sees that message')
}

async function fetchPoints(
  session: string,
  { dispatch }: SlashContext,
  signal: AbortSignal,
): Promise<readonly RewindPoint[]> {
  return (await request(dispatch, 'rewind', { session, to: 0 }, signal)).points
}

function toItem({ seq, ts, content, files }: RewindPoint, now: number): PickerItem {
  const changed = files === 0 ? [] : [`${pluralize(files, 'file')} changed since`]
  const detail = [relativeTime(ts, now), ...changed].join(' · ')
  return { value: String(seq), label: collapseBlanks(content), detail }
}

/** Shortens a message to its first sentence; a command is shown as it was typed. */
function toShortLabel({ content }: RewindPoint): string {
  return content.startsWith('/') ? takeStart(collapseBlanks(content), MAX_AUTO_TITLE) : toAutoTitle(content)
}

function ways({ seq, files }: RewindPoint): PickerItem[] {
  const what = pluralize(files, 'file')
  const withFiles: PickerItem[] = [
    { value: `${seq} both`, label: 'Conversation and files', detail: `also restores ${what}` },
  ]
  const onlyFiles: PickerItem[] = [
    { value: `${seq} files`, label: 'Files only', detail: `restores ${what}; the messages stay` },
  ]
  return [
    ...(files > 0 ? withFiles : []),
    {
      value: `${seq} conversation`,
      label: 'Conversation only',
      detail: 'edit the message and send it again',
    },
    ...(files > 0 ? onlyFiles : []),
    {
      value: `${seq} fork`,
      label: 'Fork here',
      detail: 'a copy that ends before it; this one stays as it is',
    },
  ]
}

/** Prints the result for each file, as `/undo` does. */
function printFiles({ files }: RewindResult, context: SlashContext, keepMessages: boolean): void {
  const what = keepMessages ? 'Files restored' : 'Went back'
  const rows = files.map(({ path, outcome, reason }) => [
    outcomeWord(outcome),
    reason === '' ? path : `${path}: ${reason}`,
  ])
  printRows(context, `${what} · ${pluralize(files.length, 'file')}`, rows)
}
