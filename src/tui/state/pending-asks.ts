import { isWindowSender } from '../../core/base/sender-class.ts'
import type { AskCard } from '../cards/types.ts'
import type { ChatState, OtherRun } from './types.ts'

type CurrentPair = Pick<ChatState, 'agent' | 'sender'>

/** Whether a question belongs to the shown conversation. */
export function isCurrent({ agent, sender }: CurrentPair, { pair }: Pick<AskCard, 'pair'>): boolean {
  return pair.agent === agent && pair.sender === sender
}

/** Returns the first question of the shown conversation; no other question has a card. */
export function shownAsk(state: ChatState): AskCard | undefined {
  return state.asks.find((card) => isCurrent(state, card))
}

/** Summarizes the pending questions of all other conversations in a few words; empty when there are none. */
export function elsewhereText(state: ChatState): string {
  const others = state.asks.filter((card) => !isCurrent(state, card))
  const [only] = others
  if (only === undefined) return ''
  if (others.length > 1) return `${others.length} questions wait in other conversations: /asks`
  const { agent, sender } = only.pair
  return `${agent} asks${describePlace(sender, findRunName(state, only.pair))}: /asks`
}

/** Returns the name of the conversation of a running turn; empty while unknown. */
export function findRunName(state: ChatState, { agent, sender }: CurrentPair): string {
  return state.running.find((run) => run.agent === agent && run.sender === sender)?.name ?? ''
}

/** Returns the running turns of other conversations. */
export function otherRuns(state: ChatState): readonly OtherRun[] {
  return state.running.filter(({ agent, sender }) => agent !== state.agent || sender !== state.sender)
}

/** Names a conversation after the word that precedes it: by its sender, unless a window has made that up. */
export function describePlace(sender: string, name: string): string {
  if (!isWindowSender(sender)) return ` in "${sender}"`
  return name === '' ? '' : ` in "${name}"`
}

/** The questions of the shown conversation that had no answer when the user left the chat, oldest first. */
export interface Unanswered {
  agent: string
  sender: string
  /** At least one. */
  askIds: readonly string[]
  /** Whether the questions stay pending in a daemon. Without one they end with the chat, as its turn does. */
  isWaiting: boolean
}

/**
 * Collects the questions that are unanswered when the user leaves; undefined when there are none or the
 * daemon is gone.
 */
export function unansweredAsks(state: ChatState): Unanswered | undefined {
  const { agent, sender, place, isLinkLost } = state
  const open = state.asks.filter((card) => isCurrent(state, card) && !card.isAnswered)
  if (open.length === 0 || isLinkLost) return undefined
  return { agent, sender, askIds: open.map(({ askId }) => askId), isWaiting: place === 'daemon' }
}
