import { formatCount } from '../../core/base/format.ts'
import { type CompactionEvent, CompactionState } from '../../core/protocol/crabtalk.generated.ts'
import { closeText, finish } from './finish.ts'
import type { ChatState, UsageTotals } from './types.ts'

/** The share of the context window from which the chat warns. */
const WARN_AT = 0.7

/** Says how to undo a compaction. */
export const UNDO_COMPACTION_HINT = '/compact undo brings the messages back, until your next message'

/** Returns the state after an event of the automatic compaction of a turn. */
export function reduceCompaction(state: ChatState, event: CompactionEvent): ChatState {
  const { before, after, context, error } = event
  switch (event.state) {
    case CompactionState.STARTED: {
      const share = context === undefined ? '' : ` · ${percent(before, context)} full`
      const closed = closeText(state, true)
      return closed.turn
        ? { ...closed, turn: { ...closed.turn, doing: `compacting the conversation${share}` } }
        : closed
    }
    case CompactionState.DONE: {
      const text = `Compacted: ${formatCount(before)} → ${formatCount(after)} tokens`
      const printed = finish(state, { kind: 'notice', tone: 'info', text, hint: UNDO_COMPACTION_HINT })
      return thinkingAgain({ ...printed, usage: withSize(printed.usage, after) })
    }
    default: {
      const text = `Cannot compact automatically: ${error.replace(/^Cannot compact the conversation: /, '')}`
      return thinkingAgain(finish(state, { kind: 'notice', tone: 'warning', text }))
    }
  }
}

/** Replaces the size of the conversation by an estimate until the next model call reports it. */
export function withSize(usage: UsageTotals, tokens: number): UsageTotals {
  if (!usage.last) return { ...usage, isWarned: false }
  const last = { ...usage.last, promptTokens: tokens, completionTokens: 0, totalTokens: tokens }
  return { ...usage, last, isWarned: false }
}

/** Prints a warning when a turn has filled most of the context window; once until it is compacted. */
export function warnIfFull(state: ChatState): ChatState {
  const { last, context, isWarned } = state.usage
  const { compactAt } = state.settings
  const isSoon = compactAt > 0 && compactAt <= WARN_AT // then it is compacted before it is worth a warning
  if (!last || !context || isWarned || isSoon) return state
  const used = last.promptTokens + last.completionTokens
  if (used < WARN_AT * context) return state
  const isDue = compactAt > 0 && used >= compactAt * context
  const when = isDue ? 'with your next message' : `automatically at ${percent(compactAt, 1)}`
  const next = compactAt > 0 ? `: it is compacted ${when}` : ''
  const text = `The context is ${percent(used, context)} full${next}`
  const hint = '/compact does it now, /context shows what fills it'
  const block = { kind: 'notice', tone: 'warning', text, hint } as const
  return finish({ ...state, usage: { ...state.usage, isWarned: true } }, block)
}

function thinkingAgain(state: ChatState): ChatState {
  return state.turn ? { ...state, turn: { ...state.turn, doing: 'thinking' } } : state
}

function percent(part: number, whole: number): string {
  return `${Math.round((part / whole) * 100)} %`
}
