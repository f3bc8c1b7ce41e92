import { parseObject } from '../../core/base/json.ts'
import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import { isWindowSender } from '../../core/base/sender-class.ts'
import {
  type AskClosedEvent,
  type AskInfo,
  AskKind,
  type AskUserEvent,
} from '../../core/protocol/crabtalk.generated.ts'
import { emptyAnswerText } from '../../core/questions/answer-kinds.ts'
import { openCard } from '../cards/card.ts'
import type { AskCard } from '../cards/types.ts'
import type { Block } from '../view/blocks.ts'
import type { ChatAction } from './actions.ts'
import { finish } from './finish.ts'
import { afterAnswer } from './modes.ts'
import { isCurrent } from './pending-asks.ts'
import type { ChatState } from './types.ts'

/** Adds the card of a question. An existing card of the same question stays unchanged. */
export function openAsk(state: ChatState, ask: AskUserEvent, pair: AskCard['pair']): ChatState {
  if (state.asks.some(({ askId }) => askId === ask.askId)) return state
  return { ...state, asks: [...state.asks, openCard(ask, pair)] }
}

/** Marks a question as answered here, and shows the call as the user has changed it. */
export function answerAsk(
  state: ChatState,
  { askId, isReverted = false, arguments: args }: ChatAction & { type: 'ask-answered' },
): ChatState {
  const card = state.asks.find((one) => one.askId === askId)
  const asks = state.asks.map((one) => (one === card ? { ...one, isAnswered: !isReverted } : one))
  const callId = card?.ask.permission?.callId
  if (args === undefined || callId === undefined) return { ...state, asks }
  const tools = state.tools.map((tool) =>
    tool.callId === callId ? { ...tool, arguments: args, diff: '' } : tool,
  )
  return { ...state, asks, tools }
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
  const answer = isOurs && isGate(card) ? readFirstAnswer(card, closed) : undefined
  const next = afterAnswer(withBlocks, answer, card.isAnswered)
  const isUnseen = !card.wasArmed && closed.by !== 'timeout' // as when a reopened conversation is read again
  return card.isAnswered || !isOurs || isUnseen ? next : { ...next, hint: whoAnswered(closed) || next.hint }
}

/** Whether the answer to a card can change the mode. */
function isGate({ ask: { kind } }: AskCard): boolean {
  return kind === AskKind.PLAN || kind === AskKind.PERMISSION
}

function readFirstAnswer({ ask }: AskCard, { content }: Pick<AskClosedEvent, 'content'>): unknown {
  return parseObject(content)?.[ask.questions[0]?.question ?? '']
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
  if (content !== '') return `Answered in another window${isWindowSender(by) ? '' : `, by ${by}`}`
  return by === 'timeout' ? 'No answer in time: the agent continues without one' : ''
}

/**
 * Returns the blocks worth keeping of a closed question: its answers, and permissions that last longer than
 * one call.
 */
function toAnswerBlocks({ ask }: AskCard, { content }: Pick<AskClosedEvent, 'content'>): Block[] {
  const answers = parseObject(content) ?? {}
  return ask.questions.flatMap(({ question }) => {
    const answer = answers[question]
    if (ask.kind === AskKind.PLAN) return [] // the call's own block shows the plan and the answer
    if (answer === '' && ask.kind === AskKind.TRUST) {
      return [{ kind: 'answered', question, answer: emptyAnswerText(ask) } as const]
    }
    if (typeof answer !== 'string' || answer === '') return []
    if (!ask.permission) return [{ kind: 'answered', question, answer } as const]
    if (!LASTING.has(answer)) return [] // the call's own line says whether it was permitted
    return [{ kind: 'answered', question: ask.permission.rules.join(', '), answer } as const]
  })
}

const LASTING: ReadonlySet<string> = new Set([PERMISSION_ANSWERS.session, PERMISSION_ANSWERS.always])
