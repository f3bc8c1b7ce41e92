import { pressCard } from '../cards/card.ts'
import { pressOverlay } from '../overlays/overlay.ts'
import type { Action } from '../state/actions.ts'
import type { Effect } from '../state/effects.ts'
import { focusOf, isDelicate, unarmed } from '../state/focus.ts'
import type { ChatState } from '../state/types.ts'
import type { KeyPress } from '../text/key.ts'
import { type PromptContext, pressPrompt } from '../text/prompt.ts'
import type { Room } from '../view/view.ts'

/** What a key comes to: changes of the state, and what else is to be done. */
export interface Press {
  actions: readonly Action[]
  effects: readonly Effect[]
}

/** What keys are understood by, besides the state. */
export interface Surroundings {
  prompt: PromptContext
  room: Room
}

/**
 * Gives what was pressed to whoever has the focus. Several keys that come at once were pasted, or typed before they
 * could be seen to matter: they answer nothing.
 */
export function press(state: ChatState, keys: readonly KeyPress[], around: Surroundings): Press {
  const focus = focusOf(state)
  const [key] = keys
  if (key === undefined || focus.kind === 'nobody') return NOTHING
  if (keys.length > 1 && isDelicate(focus)) return { actions: [{ type: 'disarmed' }], effects: [] }
  const quiet: Action[] = state.hint === '' ? [] : [{ type: 'set', change: { hint: '' } }]
  const { actions, effects } = pressFocused(state, key, around)
  return { actions: [...quiet, ...actions], effects }
}

function pressFocused(state: ChatState, key: KeyPress, { prompt: context, room }: Surroundings): Press {
  const focus = focusOf(state)
  if (focus.kind === 'overlay') {
    const { state: overlay, effects } = pressOverlay(focus.overlay, key, room)
    return { actions: [{ type: 'set', change: { overlay } }], effects }
  }
  if (focus.kind === 'card') {
    const { state: card, effects } = pressCard(focus.card, key, room)
    return { actions: [{ type: 'ask-card', card }], effects }
  }
  const { prompt, isCommanding } = state
  const isFree = prompt.menu === undefined
  if (isFree && unarmed(state) === 'card' && key.name === 'tab' && !key.shift) return ARM
  if (isFree && isCommanding && isStop(key)) return { actions: [], effects: [{ type: 'interrupt' }] }
  const { state: next, effects } = pressPrompt(prompt, key, context)
  return { actions: [{ type: 'set', change: { prompt: next } }], effects }
}

const NOTHING: Press = { actions: [], effects: [] }
const ARM: Press = { actions: [{ type: 'armed' }], effects: [] }

function isStop({ name, text, ctrl }: KeyPress): boolean {
  return name === 'escape' || (ctrl && text === 'c')
}
