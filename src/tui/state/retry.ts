import type { RetryEvent } from '../../core/protocol/crabtalk.generated.ts'
import { formatRetryReason } from '../view/retry.ts'
import { finish } from './finish.ts'
import type { ChatState, RetryWait } from './types.ts'

/**
 * Shows that a model call waits for its next attempt. An answer that broke off stays on the screen until the next
 * one begins.
 */
export function beginRetry(state: ChatState, event: RetryEvent, now = 0): ChatState {
  const { turn, open } = state
  if (!turn) return state
  const { attempt, maxAttempts, message, discardedTexts = 0 } = event
  const openTexts = open?.kind === 'answer' && !open.isVoid ? 1 : 0
  const until = findNextTime(event, now)
  const retry: RetryWait = {
    attempt: attempt + 1,
    maxAttempts,
    message,
    until,
    since: turn.retry?.since ?? now,
    ...((turn.retry?.hasPrinted || discardedTexts > openTexts) && { hasPrinted: true }),
  }
  const isVoid = event.discardedTexts !== undefined
  return { ...state, turn: { ...turn, retry }, open: open && isVoid ? { ...open, isVoid } : open }
}

/** Ends the wait because the model answers: an answer that broke off gives way to the new one. */
export function endRetry(state: ChatState, now = 0): ChatState {
  const { turn, open } = state
  if (!turn?.retry) return state
  const { retry, ...running } = turn
  const ended = { ...state, turn: running, open: open?.isVoid ? undefined : open }
  if (retry.hasPrinted || (open?.isVoid && open.hasClosedParts)) {
    return finish(ended, { kind: 'notice', tone: 'warning', text: BROKEN_OFF })
  }
  const seconds = Math.round((now - retry.since) / 1000)
  if (seconds < MIN_SHOWN_S) return ended
  const text = `${formatRetryReason(retry.message)}: attempt ${retry.attempt} was answered after ${seconds} s`
  return finish(ended, { kind: 'notice', tone: 'info', text })
}

/** Returns the time of the next attempt, which may have been announced a while ago, on another clock. */
function findNextTime({ delayMs, nextAt }: RetryEvent, now: number): number {
  const at = Date.parse(nextAt)
  return Number.isNaN(at) ? now + delayMs : Math.min(now + delayMs, Math.max(now, at))
}

const BROKEN_OFF = 'The answer broke off here, and starts again'
/** The minimum duration of the waits of a model call that leave a line behind. */
const MIN_SHOWN_S = 10
