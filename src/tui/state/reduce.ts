import type { Action, Settable } from './actions.ts'
import { backToPrompt, closeText, finish, finishAll } from './finish.ts'
import { arm, disarm } from './focus.ts'
import { NOTHING_SPENT } from './initial.ts'
import { withoutSteer } from './steers.ts'
import { reduceStream } from './stream.ts'
import type { ChatState } from './types.ts'

/** The state after something happened. Pure: the same state and action give the same state. */
export function reduce(state: ChatState, action: Action): ChatState {
  switch (action.type) {
    case 'stream':
      return reduceStream(state, action.event)
    case 'turn-begun':
      return beginTurn(state, action)
    case 'turn-failed': {
      const { message: text, hint } = action
      return finish({ ...finishAll(state), turn: undefined }, { kind: 'notice', tone: 'error', text, hint })
    }
    case 'turn-over':
      return state.turn ? { ...finishAll(state), turn: undefined } : state
    case 'cancelling':
      return state.turn ? { ...state, turn: { ...state.turn, isCancelling: true } } : state
    case 'steered':
      return { ...state, steers: [...state.steers, { text: action.text, content: action.content }] }
    case 'steer-gone':
      return withoutSteer(state, action.content)
    case 'queued':
      return { ...state, queue: [...state.queue, action.text] }
    case 'queue-taken-back':
      return state.queue.length === 0 ? state : backToPrompt({ ...state, queue: [] }, state.queue)
    case 'flush':
      return closeText(state, false)
    case 'printed':
      return { ...state, finished: state.finished.filter(({ id }) => id > action.upto) }
    case 'print':
      return finish(state, action.block)
    case 'ask-card':
      return {
        ...state,
        asks: state.asks.map((ask) => (ask.askId === action.card.askId ? action.card : ask)),
      }
    case 'armed':
      return arm(state)
    case 'disarmed':
      return disarm(state)
    case 'lent':
      return { ...disarm(state), isLent: action.isLent }
    case 'conversation':
      return openConversation(state, action)
    case 'set':
      return change(state, action.change)
  }
}

/** An overlay that opens or closes changes what a key would mean. */
function change(state: ChatState, parts: Partial<Settable>): ChatState {
  const changed = { ...state, ...parts }
  const isTurned = (state.overlay === undefined) !== (changed.overlay === undefined)
  return isTurned ? disarm(changed) : changed
}

function beginTurn(state: ChatState, { text, files, now }: Action & { type: 'turn-begun' }): ChatState {
  const turn = { startedAt: now, doing: 'thinking', outputTokens: 0, isCancelling: false }
  const queue = state.queue[0] === text ? state.queue.slice(1) : state.queue
  return finish({ ...state, turn, queue, hint: '' }, { kind: 'user', text, how: 'sent', files })
}

function openConversation(state: ChatState, action: Action & { type: 'conversation' }): ChatState {
  const { agent, sender, session, title } = action
  return { ...state, agent, sender, session, title, usage: NOTHING_SPENT }
}
