import type { AskClosedEvent, AskInfo, AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { openCard } from '../cards/card.ts'
import type { AskCard } from '../cards/types.ts'
import { toAnswerBlocks } from './answer-blocks.ts'
import { finish } from './finish.ts'
import { isCurrent } from './is-current.ts'
import type { ChatState } from './types.ts'

/** Adds the card of a question. An existing card of the same question stays unchanged. */
export function openAsk(state: ChatState, ask: AskUserEvent, pair: AskCard['pair']): ChatState {
  if (state.asks.some(({ askId }) => askId === ask.askId)) return state
  return { ...state, asks: [...state.asks, openCard(ask, pair)] }
}

/** Removes a question. An answer given here is printed; an answer given elsewhere becomes a hint. */
export function closeAsk(state: ChatState, closed: AskClosedEvent): ChatState {
  const card = state.asks.find(({ askId }) => askId === closed.askId)
  if (!card) return state
  const asks = state.asks.filter((one) => one !== card)
  const without = { ...state, asks }
  const isOurs = isCurrent(state, card)
  const withBlocks =
    isOurs || card.isAnswered ? toAnswerBlocks(card, closed).reduce(finish, without) : without
  return card.isAnswered || !isOurs
    ? withBlocks
    : { ...withBlocks, hint: whoAnswered(closed) || withBlocks.hint }
}

/**
 * Sets the pending questions of the shown conversation (`here`) or of all others (`elsewhere`) to exactly
 * these.
 */
export function withAsks(state: ChatState, asks: readonly AskInfo[], of: 'here' | 'elsewhere'): ChatState {
  const waiting = new Set(asks.map(({ ask }) => ask?.askId))
  const isInScope = (card: AskCard) => isCurrent(state, card) === (of === 'here')
  const remaining = state.asks.filter((card) => !isInScope(card) || waiting.has(card.askId))
  return asks.reduce(openPendingAsk, { ...state, asks: remaining })
}

/** Adds the card of a question that a daemon reported. */
export function openPendingAsk(state: ChatState, { ask, agent, sender }: AskInfo): ChatState {
  return ask ? openAsk(state, ask, { agent, sender }) : state
}

function whoAnswered({ by, content }: AskClosedEvent): string {
  if (content !== '') return `Answered in another window, by ${by}`
  return by === 'timeout' ? 'No answer in time: the agent goes on without one' : ''
}
