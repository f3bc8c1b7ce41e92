import { pressCard } from './cards/card.ts'
import type { Room } from './cards/types.ts'
import { pressOverlay } from './overlays/overlay.ts'
import type { Action } from './state/actions.ts'
import type { Effect } from './state/effects.ts'
import type { ChatState } from './state/types.ts'
import type { KeyPress } from './text/key.ts'
import type { PromptContext } from './text/prompt.ts'
import { pressPrompt } from './text/prompt.ts'

/** What a key comes to: changes of the state, and what else is to be done. */
export interface Press {
  actions: readonly Action[]
  effects: readonly Effect[]
}

/** What keys are understood by, besides the state. */
export interface Focus {
  prompt: PromptContext
  room: Room
  /** A command of the chat runs: Esc and Ctrl+C end it. */
  isCommanding: boolean
}

/**
 * Gives a key to whoever has the focus: the overlay, else the first question, else the prompt. A question that has only
 * just come up gets none: they were meant for the prompt.
 */
export function press(state: ChatState, key: KeyPress, focus: Focus): Press {
  const { action, effects } = pressFocused(state, key, focus)
  const quiet: Action[] = state.hint === '' ? [] : [{ type: 'set', change: { hint: '' } }]
  return { actions: [...quiet, action], effects }
}

function pressFocused(
  { overlay, asks, prompt }: ChatState,
  key: KeyPress,
  focus: Focus,
): { action: Action; effects: readonly Effect[] } {
  const card = asks[0]
  if (overlay) {
    const { state, effects } = pressOverlay(overlay, key, focus.room)
    return { action: { type: 'set', change: { overlay: state } }, effects }
  }
  if (card?.isArmed) {
    const { state, effects } = pressCard(card, key, focus.room)
    return { action: { type: 'ask-card', card: state }, effects }
  }
  const isFree = prompt.menu === undefined && prompt.search === undefined
  if (focus.isCommanding && isFree && isStop(key)) {
    return { action: { type: 'set', change: { prompt } }, effects: [{ type: 'interrupt' }] }
  }
  const { state, effects } = pressPrompt(prompt, key, focus.prompt)
  return { action: { type: 'set', change: { prompt: state } }, effects }
}

function isStop({ name, text, ctrl }: KeyPress): boolean {
  return name === 'escape' || (ctrl && text === 'c')
}
