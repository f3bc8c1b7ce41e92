import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { Pressed } from '../state/effects.ts'
import { globalEffect } from '../text/global-keys.ts'
import type { KeyPress } from '../text/key.ts'
import { rememberLast } from '../view/remember.ts'
import type { Section } from '../view/section.ts'
import type { Room, View } from '../view/view.ts'
import { pressForm } from './form.ts'
import { newForm } from './form-fields.ts'
import { renderForm } from './form-view.ts'
import { NEW_PERMISSION, pressPermission } from './permission.ts'
import { renderPermission } from './permission-view.ts'
import type { AskCard } from './types.ts'

/** The card of a question that has just been asked; its keys do nothing before it is armed. */
export function openCard(ask: AskUserEvent, pair: AskCard['pair']): AskCard {
  const isPermission = ask.permission !== undefined && ask.questions.length > 0
  const state = isPermission ? NEW_PERMISSION : newForm(ask.questions)
  return {
    askId: ask.askId,
    agent: pair.agent,
    pair,
    ask,
    isAnswered: false,
    isArmed: false,
    state,
    content: rememberLast(),
  }
}

/** The card with keys that count: it has stood on the screen, and nothing was typed for a moment. */
export function armCard(card: AskCard): AskCard {
  return card.isArmed ? card : { ...card, isArmed: true }
}

/**
 * What a key does to the card; the answer is an effect, after which the card is no longer armed.
 *
 * A card that is not armed takes no key but Ctrl+C, so that what was typed for the prompt answers nothing.
 */
export function pressCard(card: AskCard, key: KeyPress, room: Room): Pressed<AskCard> {
  if (key.ctrl && key.text.toLowerCase() === 'c') return { state: card, effects: [{ type: 'interrupt' }] }
  const effect = globalEffect(key)
  if (effect) return { state: card, effects: [effect] }
  if (!card.isArmed) return { state: card, effects: [] }
  const { state, ask } = card
  if (state.kind === 'form') return pressForm({ card, state }, key, room)
  return pressPermission({ card, state, request: ask.permission! }, key, room)
}

/** The card as lines; it stands where the prompt stands otherwise, in at most `view.rows - 6` of them, or 2. */
export function renderCard(card: AskCard, view: View): Section {
  const { state, ask } = card
  if (state.kind === 'form') return renderForm({ card, state }, view)
  return renderPermission({ card, state, request: ask.permission! }, view)
}
