import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { Pressed } from '../state/effects.ts'
import type { KeyPress } from '../text/key.ts'
import type { Section } from '../view/section.ts'
import type { View } from '../view/view.ts'
import type { AskCard } from './types.ts'

/** The card of a question that has just been asked. */
export function openCard(ask: AskUserEvent, agent: string): AskCard {
  return { askId: ask.askId, agent, ask }
}

/** What a key does to the card; the answer is an effect. */
export function pressCard(card: AskCard, _key: KeyPress): Pressed<AskCard> {
  return { state: card, effects: [] }
}

/** The card as lines; it stands where the prompt stands otherwise. */
export function renderCard(_card: AskCard, _view: View): Section {
  return { lines: ['?'], cut: 'tail', rank: 8 }
}
