import { isEditing, isWriting, pickDigit, pressCard, stopWriting, writeToCard } from '../cards/card.ts'
import { enterAgainHint } from '../cards/selection.ts'
import type { AskCard, CardKeyResult, CardView } from '../cards/types.ts'
import { findKeysForPrompt } from '../overlays/menu.ts'
import { pressOverlay } from '../overlays/overlay.ts'
import type { ChatAction, Settable } from '../state/actions.ts'
import { getFocus, getVisibleCard, isDelicate } from '../state/focus.ts'
import type { ChatState } from '../state/types.ts'
import type { ChatEffect } from '../text/effects.ts'
import { findEscAction } from '../text/esc-key.ts'
import type { KeyPress } from '../text/key.ts'
import { pressPrompt } from '../text/prompt.ts'
import {
  fullPromptText,
  type Prompt,
  type PromptContext,
  withKilledText,
  withoutText,
} from '../text/prompt-state.ts'
import type { Room } from '../view/view.ts'

/** The result of a key: state changes, and effects for the controller. */
export interface KeyActions {
  actions: readonly ChatAction[]
  effects: readonly ChatEffect[]
}

/** The context, apart from the state, in which keys are interpreted. */
export interface KeyContext {
  prompt: PromptContext
  room: Room
  /** The current number of lines of the composer. */
  promptRows: number
  /**
   * Whether the key arrived on its own. Several keys in one read were pasted, or typed before the user could
   * see what they would do.
   */
  isAlone: boolean
}

/** Passes keys to the overlay, the card, or the composer. Keys that arrive together answer nothing. */
export function press(state: ChatState, keys: readonly KeyPress[], around: KeyContext): KeyActions {
  const focus = getFocus(state)
  const [key] = keys
  if (key === undefined || focus.kind === 'none') return NOTHING
  const forPrompt = focus.kind === 'overlay' ? findKeysForPrompt(focus.overlay, keys) : undefined
  if (forPrompt) {
    const closed: ChatAction = { type: 'set', change: { overlay: undefined } }
    const typed = pressPrompts(state.prompt, forPrompt, around.prompt)
    return { actions: [closed, ...typed.actions], effects: typed.effects }
  }
  if (keys.length > 1 && isDelicate(focus)) return { actions: [{ type: 'overlay-disarmed' }], effects: [] }
  const quiet: ChatAction[] = state.hint === '' ? [] : [{ type: 'set', change: { hint: '' } }]
  const { actions, effects } = pressFocused(state, key, around)
  return { actions: [...quiet, ...actions], effects }
}

function pressFocused(state: ChatState, key: KeyPress, around: KeyContext): KeyActions {
  const focus = getFocus(state)
  if (focus.kind === 'overlay') {
    const { state: overlay, effects } = pressOverlay(focus.overlay, key, around.room)
    return { actions: [{ type: 'set', change: { overlay } }], effects }
  }
  const card = getVisibleCard(state)
  if (card && key.name === 'escape' && findEscAction({ card }) === 'return-to-choices') {
    const emptied = isEditing(card) ? [set({ prompt: withKilledText(state.prompt) })] : []
    return joined(
      card,
      { state: stopWriting(card), effects: [], rest: [] },
      { actions: emptied, effects: [] },
    )
  }
  if (card && isWriting(card)) return pressWriting(state, { card, key }, around)
  if (card) return pressOverCard(state, { card, key }, around)
  const { prompt, isCommanding } = state
  if (isStop(key, prompt, isCommanding)) {
    return { actions: [], effects: [{ type: 'interrupt' }] }
  }
  return pressPrompts(prompt, [key], around.prompt)
}

/**
 * Passes a key to the card when it chooses there, otherwise to the composer, together with earlier keys that
 * turn out to be text.
 */
function pressOverCard(
  { prompt }: ChatState,
  { card, key }: { card: AskCard; key: KeyPress },
  { room, promptRows, isAlone, prompt: context }: KeyContext,
): KeyActions {
  const leavesInsert = key.name === 'escape' && findEscAction({ card, prompt }) === 'leave-insert'
  if (leavesInsert) return pressPrompts(prompt, [key], { ...context, hasCard: true })
  const isFree = prompt.text === '' && prompt.menu === undefined
  const drawn = { color: true, directory: '' } // as its content is usually drawn and cached
  const view: CardView = { ...room, promptRows, isFree, ...drawn }
  const digits = isAlone || key.name === 'enter' ? pressOnDigits({ prompt, card }, key, view) : undefined
  if (digits) return digits
  const pressed = pressCard(card, key, { view, isAlone })
  const typed = pressPrompts(prompt, pressed.rest, { ...context, hasCard: true })
  const isUnused = key.name === 'escape' && isFree && pressed.rest.includes(key) && !card.isAnswered
  return joined(card, isUnused ? { ...pressed, hint: escAgainHint(card) } : pressed, typed)
}

/** The hint after an Esc that came before the user could have seen what it answers. */
function escAgainHint({ state }: AskCard): string {
  const what = state.kind === 'form' ? 'give no answer' : 'say no'
  return `Press Esc again to ${what}, or Ctrl+C to stop the agent`
}

/**
 * Keeps a draft of digits from being sent or queued while a card is up: the user may have meant an answer. A digit of
 * the card is selected there; the next Enter answers it, and Tab edits the call of a card that the user has seen. Other
 * digits stay in the composer. Undefined for any other key or draft.
 */
function pressOnDigits(
  { prompt, card }: Pick<ChatState, 'prompt'> & { card: AskCard },
  key: KeyPress,
  view: CardView,
): KeyActions | undefined {
  const { name, shift, alt, ctrl } = key
  const text = fullPromptText(prompt).trim()
  const isPlain = (name === 'enter' || name === 'tab') && !shift && !alt && !ctrl
  if (!isPlain || card.isAnswered || !/^\d+$/.test(text)) return undefined
  const picked = pickDigit(card, text)
  if (!picked) return { actions: [set({ hint: notAnAnswer(text) })], effects: [] }
  const emptied = [set({ prompt: withoutText(prompt) })]
  if (name === 'tab' && card.wasArmed) {
    const pressed = pressCard(picked, key, { view: { ...view, isFree: true }, isAlone: true })
    return joined(card, pressed, { actions: emptied, effects: [] })
  }
  const hint = enterAgainHint(Number(text))
  return joined(card, { state: picked, effects: [], rest: [], hint }, { actions: emptied, effects: [] })
}

function notAnAnswer(text: string): string {
  return `${text} is not a choice here; add words to send it as a message`
}

function set(change: Partial<Settable>): ChatAction {
  return { type: 'set', change }
}

/** Types the answer that the card waits for: Enter submits it. */
function pressWriting(
  { prompt }: ChatState,
  { card, key }: { card: AskCard; key: KeyPress },
  { prompt: context }: KeyContext,
): KeyActions {
  if (key.name === 'enter' && !key.shift && !key.alt && !key.ctrl) {
    const text = fullPromptText(prompt)
    if (text.trim() === '') return NOTHING
    const written = writeToCard(card, isEditing(card) ? text : text.trim())
    const emptied = isEditing(written.state) ? [] : [set({ prompt: withoutText(prompt) })]
    return joined(card, written, { actions: emptied, effects: [] })
  }
  if (key.name === 'tab') return NOTHING // Tab queues messages, and this is an answer
  const { state, effects } = pressPrompt(prompt, key, { ...context, hasCard: true })
  const remaining = effects.filter(({ type }) => type !== 'complete')
  return { actions: [{ type: 'set', change: { prompt: { ...state, menu: undefined } } }], effects: remaining }
}

function joined(card: AskCard, { state, effects, hint }: CardKeyResult, typed: KeyActions): KeyActions {
  const changed: ChatAction[] = state === card ? [] : [{ type: 'ask-card', card: state }]
  const hints: ChatAction[] = hint === undefined ? [] : [{ type: 'set', change: { hint } }]
  return { actions: [...changed, ...typed.actions, ...hints], effects: [...effects, ...typed.effects] }
}

function pressPrompts(prompt: Prompt, keys: readonly KeyPress[], context: PromptContext): KeyActions {
  let next = prompt
  const effects: ChatEffect[] = []
  for (const key of keys) {
    const pressed = pressPrompt(next, key, context)
    next = pressed.state
    effects.push(...pressed.effects)
  }
  return { actions: next === prompt ? [] : [{ type: 'set', change: { prompt: next } }], effects }
}

const NOTHING: KeyActions = { actions: [], effects: [] }

/** Whether a key stops the slash command or the `!` command that is running. */
function isStop({ name, text, ctrl }: KeyPress, prompt: Prompt, isCommanding: boolean): boolean {
  const isCtrlC = ctrl && text === 'c'
  if (name !== 'escape' && !isCtrlC) return false
  const state = isCtrlC ? { ...prompt, vim: undefined } : prompt // Ctrl+C has no meaning in the modes of vim
  return findEscAction({ prompt: state, isCommanding }) === 'interrupt'
}
