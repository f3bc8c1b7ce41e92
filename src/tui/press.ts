import { pressCard } from './cards/card.ts'
import { pressOverlay } from './overlays/overlay.ts'
import type { Action } from './state/actions.ts'
import type { Effect } from './state/effects.ts'
import type { ChatState } from './state/types.ts'
import type { KeyPress } from './text/key.ts'
import { type PromptContext, pressPrompt } from './text/prompt.ts'

/** What a key comes to: changes of the state, and what else is to be done. */
export interface Press {
  actions: readonly Action[]
  effects: readonly Effect[]
}

/** Gives a key to whoever has the focus: the overlay, else the first question, else the prompt. */
export function press(state: ChatState, key: KeyPress, context: PromptContext): Press {
  const quiet: Action[] = state.hint === '' ? [] : [{ type: 'set', change: { hint: '' } }]
  const { overlay } = state
  const card = state.asks[0]
  if (overlay) {
    const pressed = pressOverlay(overlay, key)
    return {
      actions: [...quiet, { type: 'set', change: { overlay: pressed.state } }],
      effects: pressed.effects,
    }
  }
  if (card) {
    const pressed = pressCard(card, key)
    return { actions: [...quiet, { type: 'ask-card', card: pressed.state }], effects: pressed.effects }
  }
  const pressed = pressPrompt(state.prompt, key, context)
  return { actions: [...quiet, { type: 'set', change: { prompt: pressed.state } }], effects: pressed.effects }
}
