import { toAutoTitle } from '../../core/base/auto-title.ts'
import { forgetEnter } from '../cards/card.ts'
import type { ModeName } from '../ports.ts'
import { findPasted } from '../text/prompt-state.ts'
import type { ChatAction, Settable } from './actions.ts'
import { answerAsk, closeAsk, openPendingAsk, withAsks } from './asks.ts'
import { backToPrompt, closeText, finish, finishAll, finishWelcome } from './finish.ts'
import { armOverlay, disarmOverlay, withArmed } from './focus.ts'
import { NO_USAGE_TOTALS } from './initial.ts'
import { withoutLostEdit } from './lost-edit.ts'
import { withChoice, withStoredChoice, withUsual } from './model-choice.ts'
import { withoutConsent } from './modes.ts'
import { otherRuns } from './pending-asks.ts'
import { withoutTypedSteer, withSentSteer } from './steers.ts'
import { reduceStream } from './stream.ts'
import type { ChatState, OtherRun, RunningTurn } from './types.ts'

/** Returns the state after an action. Pure: the same state and action give the same state. */
export function reduce(state: ChatState, action: ChatAction): ChatState {
  return withoutLostEdit(state, reduceAction(state, action))
}

function reduceAction(state: ChatState, action: ChatAction): ChatState {
  switch (action.type) {
    case 'stream':
      return reduceStream(state, action.event, action.now)
    case 'message-sent':
      return beginTurn(state, action)
    case 'turn-started':
      return startTurn(state, action)
    case 'turn-waits':
      return state.turn ? state : { ...state, turn: newTurn(action.now, 'waiting', state.mode) }
    case 'turn-failed': {
      const { message: text, hint } = action
      return finish(withoutWaiting(state), { kind: 'notice', tone: 'error', text, hint })
    }
    case 'turn-detached': {
      const { text, tone, keepsRunning = false } = action
      if (!state.turn) return state
      const left = keepsRunning ? withoutRunningWork(state) : state
      const leftRuns = keepsRunning ? [...state.leftRuns, state.turn.runId] : state.leftRuns
      return finish({ ...finishAll(left), turn: undefined, leftRuns }, { kind: 'notice', tone, text })
    }
    case 'turn-over':
      return withoutWaiting(state)
    case 'cancelling':
      return state.turn ? { ...state, turn: { ...state.turn, isCancelling: !action.isReverted } } : state
    case 'steering':
      return { ...state, steers: [...state.steers, { text: action.text, content: undefined }] }
    case 'steered':
      return withSentSteer(state, action)
    case 'steer-gone':
      return withoutTypedSteer(state, action.text)
    case 'queued':
      return { ...state, queue: [...state.queue, action.text] }
    case 'queue-changed':
      return { ...state, queue: action.queue }
    case 'queue-taken-back':
      return state.queue.length === 0 ? state : backToPrompt({ ...state, queue: [] }, state.queue)
    case 'flush':
      return closeText(state, false)
    case 'printed':
      return { ...state, finished: state.finished.filter(({ id }) => id > action.upto) }
    case 'print':
      return finish(state, action.block)
    case 'welcome-known':
      return finishWelcome(state)
    case 'ask-card':
      return {
        ...state,
        asks: state.asks.map((ask) => (ask.askId === action.card.askId ? action.card : ask)),
      }
    case 'asks-listed':
      return withAsks(state, action.asks, action.of)
    case 'ask-opened':
      return openPendingAsk(state, action.ask)
    case 'ask-closed':
      return closeAsk(state, action.closed)
    case 'running-listed':
      return { ...state, running: action.running }
    case 'run-started':
      return { ...state, running: [...withoutRun(state.running, action.run.runId), action.run] }
    case 'run-ended':
      return endRun(state, action.runId)
    case 'ask-answered':
      return answerAsk(state, action)
    case 'ask-put-aside':
      return { ...state, asks: state.asks.filter(({ askId }) => askId !== action.askId) }
    case 'overlay-armed':
      return armOverlay(state)
    case 'overlay-disarmed':
      return disarmOverlay(state)
    case 'card-armed':
      return withArmed(state, action.askId)
    case 'card-unseen':
      return { ...state, asks: state.asks.map(forgetEnter) }
    case 'lent':
      return { ...disarmOverlay(state), isLent: action.isLent }
    case 'conversation':
      return openConversation(state, action)
    case 'choice':
      return withChoice(state, action, action.scope)
    case 'usual':
      return withUsual(state, action)
    case 'set':
      return change(state, action.change)
  }
}

/**
 * Replaces parts of the state. When an overlay opens or closes it is disarmed, because that changes what a
 * key means.
 */
function change(state: ChatState, parts: Partial<Settable>): ChatState {
  const changed = { ...state, ...parts }
  const isTurned = (state.overlay === undefined) !== (changed.overlay === undefined)
  return isTurned ? disarmOverlay(changed) : changed
}

function beginTurn(state: ChatState, { text, files, now }: ChatAction & { type: 'message-sent' }): ChatState {
  const turn = state.turn ?? newTurn(now, 'thinking', state.mode)
  const queue = state.queue[0] === text ? state.queue.slice(1) : state.queue
  const title = state.title || (state.settings.titles === 'off' ? '' : toAutoTitle(text))
  const pasted = findPasted(state.prompt, text)
  return finish(
    { ...state, turn, queue, title, hint: '' },
    { kind: 'user', text, how: 'sent', files, ...(pasted.length > 0 && { pasted }) },
  )
}

function newTurn(startedAt: number, doing: string, mode?: ModeName): RunningTurn {
  return { runId: '', startedAt, doing, outputTokens: 0, hasAnswered: false, isCancelling: false, mode }
}

/**
 * Starts the turn of the waiting message, or a turn of another client. A turn that is already shown
 * continues.
 */
function startTurn(
  state: ChatState,
  { runId, now, received, isUnderWay = false, isPartial = false }: ChatAction & { type: 'turn-started' },
): ChatState {
  if (state.turn?.runId === runId) return state
  const isWaiting = state.turn?.runId === ''
  const before = state.turn && !isWaiting ? finishAll(state) : state
  const shown = isWaiting ? state.turn! : newTurn(now, 'thinking')
  const turn = { ...shown, runId, hasAnswered: isUnderWay, isPartial }
  const started = { ...before, turn }
  return received ? finish(started, { kind: 'user', how: 'received', ...received }) : started
}

/** Drops what is still running, and the steers that the turn will read, because the turn continues. */
function withoutRunningWork(state: ChatState): ChatState {
  return { ...state, tools: state.tools.filter((tool) => tool.state !== 'running'), steers: [] }
}

/** Removes a turn that has ended, and says so if this window put it into the background and shows something else. */
function endRun(state: ChatState, runId: string): ChatState {
  const run = otherRuns(state).find((one) => one.runId === runId)
  const leftRuns = state.leftRuns.filter((one) => one !== runId)
  const ended = { ...state, running: withoutRun(state.running, runId), leftRuns }
  if (!run || leftRuns.length === state.leftRuns.length) return ended
  const text = `The turn in the background has ended: ${run.name || `a chat with ${run.agent}`}`
  return finish(ended, { kind: 'notice', tone: 'info', text, hint: OPENS })
}

const OPENS = '/agents, or Left in an empty prompt, opens it'

function withoutRun(running: readonly OtherRun[], runId: string): readonly OtherRun[] {
  return running.filter((run) => run.runId !== runId)
}

/** Stops waiting for the turn of a message; a running turn continues. */
function withoutWaiting(state: ChatState): ChatState {
  return state.turn?.runId === '' ? { ...finishAll(state), turn: undefined } : state
}

/** Switches the conversation. Questions of the previous one stay pending. */
function openConversation(state: ChatState, action: ChatAction & { type: 'conversation' }): ChatState {
  const { agent, sender, session, title, summary = '', tokens = 0 } = action
  const isOther = agent !== state.agent || sender !== state.sender
  const isNew = !action.isFirst && (isOther || session !== state.session)
  const consenting = isNew ? withoutConsent(state, agent) : state
  const left = isOther && state.turn ? { ...finishAll(consenting), turn: undefined } : consenting
  const last = tokens > 0 ? { promptTokens: tokens, completionTokens: 0, totalTokens: tokens } : undefined
  const usage = { ...NO_USAGE_TOTALS, last }
  const opened = { ...left, agent, sender, session, title, summary, usage, followers: 0 }
  return withStoredChoice(opened, action)
}
