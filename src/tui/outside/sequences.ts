import type { NotifyWay } from '../../core/base/chat-settings.ts'
import { cleanLine } from '../view/clean.ts'
import { truncateText } from '../view/text.ts'

/** Saves the title of the window on the stack of the terminal (XTWINOPS 22). */
export const SAVE_TITLE = '\u001b[22;0t'
/** Restores the saved title. Terminals without a title stack get an empty title and show their default. */
export const RESTORE_TITLE = '\u001b]2;\u001b\\\u001b[23;0t'
/** Turns reports of the focus on and off. */
export const FOCUS_ON = '\u001b[?1004h'
export const FOCUS_OFF = '\u001b[?1004l'
/** Asks for the background color. */
export const QUERY_BACKGROUND = '\u001b]11;?\u001b\\'
/** Resets the cursor shape (DECSCUSR). */
export const RESET_CURSOR = '\u001b[0 q'

/** The shapes of the cursor: a block in normal mode of vim, a bar in insert mode. */
export const CURSOR_SHAPES = { block: '\u001b[2 q', bar: '\u001b[6 q' } as const

/** The state of the progress that the terminal shows. */
export type Progress = 'none' | 'busy' | 'asking' | 'failed'

/** Returns the sequence that shows a progress (OSC 9;4). */
export function toProgress(progress: Progress): string {
  return `\u001b]9;4;${{ none: '0;0', busy: '3;0', asking: '4;100', failed: '2;100' }[progress]}\u001b\\`
}

/** Returns the sequence that sets the title of the window. */
export function toTitleSequence(title: string): string {
  return `\u001b]2;${truncateText(cleanLine(title), MAX_TITLE_COLUMNS)}\u001b\\`
}

const MAX_TITLE_COLUMNS = 100

/** Returns the sequence of a notification; within tmux it is passed through to the terminal around it. */
export function toNotification(
  text: string,
  way: Exclude<NotifyWay, 'auto' | 'off'>,
  isTmux: boolean,
): string {
  if (way === 'bell') return '\u0007'
  const body = truncateText(cleanLine(text), MAX_NOTIFICATION_COLUMNS)
  const sequence = `\u001b]${PREFIXES[way]}${body}\u001b\\`
  return isTmux ? `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\` : sequence
}

const MAX_NOTIFICATION_COLUMNS = 160
const PREFIXES = { osc9: '9;', osc777: '777;notify;crabtalk;', osc99: '99;;' } as const
