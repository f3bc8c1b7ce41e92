import type { AskCard } from '../cards/types.ts'
import type { ChatState } from '../state/types.ts'
import type { Progress } from './sequences.ts'

/** A change of the chat that the user should know about, even in another window. */
export interface Attention {
  kind: 'question' | 'failed' | 'ended'
  text: string
}

/** Returns what happened between two states that needs attention; undefined when nothing did. */
export function findAttention(before: ChatState, after: ChatState, now: number): Attention | undefined {
  const known = new Set(before.asks.map(({ askId }) => askId))
  const card = after.asks.find(({ askId }) => !known.has(askId))
  if (card) return { kind: 'question', text: `crabtalk: ${card.pair.agent} asks: ${describeAsk(card)}` }
  const { turn } = before
  if (!turn || after.turn || turn.isCancelling) return undefined
  const name = after.title || after.agent
  const failure = after.finished.find(({ id, block }) => id >= before.nextId && isFailure(block))
  if (failure) return { kind: 'failed', text: `crabtalk: the turn failed: ${name}` }
  const ms = now - turn.startedAt
  return ms < LONG_TURN_MS ? undefined : { kind: 'ended', text: `crabtalk: finished: ${name}` }
}

/** The time in milliseconds after which the end of a turn needs attention. */
const LONG_TURN_MS = 10_000

function isFailure(block: ChatState['finished'][number]['block']): boolean {
  return block.kind === 'notice' && block.tone === 'error'
}

function describeAsk({ ask }: AskCard): string {
  return ask.questions[0]?.question ?? 'a question'
}

/** Returns the title of the window: a sign when the chat works or asks, and the conversation or its directory. */
export function toWindowTitle(state: ChatState, shownCwd: string): string {
  const sign = { none: '', busy: '● ', asking: '? ', failed: '✗ ' }[toProgressState(state, false)]
  return `${sign}crabtalk: ${state.title || shownCwd}`
}

/** Returns the progress to show; `hasFailed` until the user has seen it. */
export function toProgressState({ turn, asks, agent, sender }: ChatState, hasFailed: boolean): Progress {
  const isAsked = asks.some(
    ({ pair, isAnswered }) => !isAnswered && pair.agent === agent && pair.sender === sender,
  )
  if (isAsked) return 'asking'
  if (turn) return 'busy'
  return hasFailed ? 'failed' : 'none'
}
