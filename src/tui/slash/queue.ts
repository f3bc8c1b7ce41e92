import type { Panel } from '../overlays/types.ts'
import { withReturned } from '../text/prompt-state.ts'
import { printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/queue`: shows the messages that wait for the end of the turn. */
export function showQueue(_args: string, context: SlashContext): void {
  const { queue } = context.state()
  if (queue.length > 0) showOverlay(context, queuePanel(queue, 0))
  else printNotice(context, 'info', 'No queued messages', 'Tab queues a message while a turn runs')
}

/** Carries out a key of the panel, unless the message has been sent meanwhile. */
export function changeQueue(
  { value, key = '' }: { value: string; key?: string | undefined },
  context: SlashContext,
): void {
  const { queue, prompt } = context.state()
  const at = Number(value.slice(0, value.indexOf('\n')))
  const text = value.slice(value.indexOf('\n') + 1)
  const isThere = queue[at] === text
  if (key !== 'e' || !isThere) {
    const sent = { queue, selected: 0, note: 'This message was already sent' }
    showChanged(context, isThere ? moveOrDrop(queue, at, key) : sent)
    return
  }
  context.act({ type: 'queue-changed', queue: queue.toSpliced(at, 1) })
  context.act({ type: 'set', change: { prompt: withReturned(prompt, [text]), overlay: undefined } })
}

/** The queue after a key, the row that is selected then, and a note about it. */
interface QueueChange {
  queue: readonly string[]
  selected: number
  note: string
}

function moveOrDrop(queue: readonly string[], at: number, key: string): QueueChange {
  const rest = queue.toSpliced(at, 1)
  if (key === 'd') return { queue: rest, selected: at, note: 'Dropped' }
  const to = Math.max(0, Math.min(queue.length - 1, key === 'u' ? at - 1 : at + 1))
  return { queue: rest.toSpliced(to, 0, queue[at]!), selected: to, note: '' }
}

function showChanged(context: SlashContext, { queue, selected, note }: QueueChange): void {
  context.act({ type: 'queue-changed', queue })
  showOverlay(context, queue.length === 0 ? undefined : { ...queuePanel(queue, selected), note })
}

function queuePanel(queue: readonly string[], selected: number): Panel {
  const rows = queue.map((text, at) => ({
    value: `${at}\n${text}`,
    cells: [String(at + 1), text],
    problem: '',
  }))
  return {
    kind: 'panel',
    picker: 'queue',
    title: 'Queued messages, sent when the turn ends',
    header: ['', 'MESSAGE'],
    rows,
    selected: Math.max(0, Math.min(selected, rows.length - 1)),
    keys: KEYS,
    note: '',
  }
}

const KEYS = [
  { key: 'e', label: 'edit' },
  { key: 'u', label: 'up' },
  { key: 'n', label: 'down' },
  { key: 'd', label: 'drop', confirm: 'drop it' },
]
