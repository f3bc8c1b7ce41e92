import type { AskCard } from '../cards/types.ts'
import type { ChatState } from './types.ts'

type CurrentPair = Pick<ChatState, 'agent' | 'sender'>

/** Whether a question is one of the conversation that is shown. */
export function isCurrent({ agent, sender }: CurrentPair, { pair }: Pick<AskCard, 'pair'>): boolean {
  return pair.agent === agent && pair.sender === sender
}

/** The first question of the conversation that is shown; only such a question has a card. */
export function shownAsk(state: ChatState): AskCard | undefined {
  return state.asks.find((card) => isCurrent(state, card))
}

/** The questions of all other conversations, in a few words; empty when none waits. */
export function elsewhereText(state: ChatState): string {
  const others = state.asks.filter((card) => !isCurrent(state, card))
  const [only] = others
  if (only === undefined) return ''
  if (others.length > 1) return `${others.length} questions wait in other conversations: /asks`
  return `${only.pair.agent} asks in "${only.pair.sender}": /asks`
}
