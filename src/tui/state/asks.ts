import type { AskClosedEvent, AskInfo, AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { openCard } from '../cards/card.ts'
import type { AskCard } from '../cards/types.ts'
import { toAnswerBlocks } from './answer-blocks.ts'
import { finish } from './finish.ts'
import { isCurrent } from './is-current.ts'
import type { ChatState } from './types.ts'

/** The state with the card of a question; one that is there stays as it is. */
export function openAsk(state: ChatState, ask: AskUserEvent, pair: AskCard['pair']): ChatState {
  if (state.asks.some(({ askId }) => askId === ask.askId)) return state
  return { ...state, asks: [...state.asks, openCard(ask, pair)] }
}

/** The state without a question: what was answered here is printed, who else has answered is a hint. */
export function closeAsk(state: ChatState, closed: AskClosedEvent): ChatState {
  const card = state.asks.find(({ askId }) => askId === closed.askId)
  if (!card) return state
  const asks = state.asks.filter((one) => one !== card)
  const without = { ...state, asks }
  const isOurs = isCurrent(state, card)
  const told = isOurs || card.isAnswered ? toAnswerBlocks(card, closed).reduce(finish, without) : without
  return card.isAnswered || !isOurs ? told : { ...told, hint: whoAnswered(closed) || told.hint }
}

/** The state with exactly these questions, of the conversation that is shown or of all others. */
export function withAsks(state: ChatState, asks: readonly AskInfo[], of: 'here' | 'elsewhere'): ChatState {
  const waiting = new Set(asks.map(({ ask }) => ask?.askId))
  const isMeant = (card: AskCard) => isCurrent(state, card) === (of === 'here')
  const kept = state.asks.filter((card) => !isMeant(card) || waiting.has(card.askId))
  return asks.reduce(openPendingAsk, { ...state, asks: kept })
}

/** The state with the card of a question that a daemon has told of. */
export function openPendingAsk(state: ChatState, { ask, agent, sender }: AskInfo): ChatState {
  return ask ? openAsk(state, ask, { agent, sender }) : state
}

function whoAnswered({ by, content }: AskClosedEvent): string {
  if (content !== '') return `Answered in another window, by ${by}`
  return by === 'timeout' ? 'No answer in time: the agent goes on without one' : ''
}
