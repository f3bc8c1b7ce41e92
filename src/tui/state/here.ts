import type { AskCard } from '../cards/types.ts'
import type { ChatState } from './types.ts'

type Shown = Pick<ChatState, 'agent' | 'sender'>

/** Whether a question is one of the conversation that is shown. */
export function isHere({ agent, sender }: Shown, { pair }: AskCard): boolean {
  return pair.agent === agent && pair.sender === sender
}

/** The card with the name of who asks, as it is shown beside that conversation. */
export function named(shown: Shown, card: AskCard): AskCard {
  const { agent, sender } = card.pair
  return { ...card, agent: isHere(shown, card) ? agent : `${agent} (for ${sender})` }
}
