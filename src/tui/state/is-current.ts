import type { AskCard } from '../cards/types.ts'
import type { ChatState } from './types.ts'

type CurrentPair = Pick<ChatState, 'agent' | 'sender'>

/** Whether a question belongs to the shown conversation. */
export function isCurrent({ agent, sender }: CurrentPair, { pair }: Pick<AskCard, 'pair'>): boolean {
  return pair.agent === agent && pair.sender === sender
}

/** Returns the first question of the shown conversation; no other question has a card. */
export function shownAsk(state: ChatState): AskCard | undefined {
  return state.asks.find((card) => isCurrent(state, card))
}

/** Summarises the pending questions of all other conversations in a few words; empty when there are none. */
export function elsewhereText(state: ChatState): string {
  const others = state.asks.filter((card) => !isCurrent(state, card))
  const [only] = others
  if (only === undefined) return ''
  if (others.length > 1) return `${others.length} questions wait in other conversations: /asks`
  return `${only.pair.agent} asks in "${only.pair.sender}": /asks`
}
