import type { StreamEvent } from '../../src/core/protocol/crabtalk.generated.ts'
import type { ChatOptions } from '../../src/tui/ports.ts'
import { initialState } from '../../src/tui/state/initial.ts'
import { reduce } from '../../src/tui/state/reduce.ts'
import type { ChatState } from '../../src/tui/state/types.ts'
import type { Block } from '../../src/tui/view/blocks.ts'

type Event = NonNullable<StreamEvent['event']>

export const CHAT_OPTIONS: ChatOptions = {
  agent: 'crab',
  sender: 'ann',
  fresh: false,
  mode: 'ask',
  rules: { allow: [], ask: [], deny: [] },
  color: false,
  version: '0.0.0',
}

/** A chat in which a turn has just started. */
export function busyState(): ChatState {
  return reduce(initialState(CHAT_OPTIONS), {
    type: 'message-sent',
    text: 'hello',
    files: [],
    now: 0,
  })
}

/** Returns the state after these events of the running turn. */
export function after(state: ChatState, events: readonly Event[]): ChatState {
  return events.reduce((before, event) => reduce(before, { type: 'stream', event: { seq: 0, event } }), state)
}

/** Returns the blocks to print. */
export function finishedBlocks({ finished }: ChatState): Block[] {
  return finished.map(({ block }) => block)
}

export const textStart: Event = { $case: 'textStart', value: { agent: 'crab' } }
export const textEnd: Event = { $case: 'textEnd', value: { agent: 'crab' } }
export const chunk = (content: string): Event => ({ $case: 'chunk', value: { content } })

/** Builds the start of one step's calls, by id. */
export function toolStart(...ids: readonly string[]): Event {
  const calls = ids.map((callId) => ({ name: 'bash', arguments: '{"command":"ls"}', callId, server: '' }))
  return { $case: 'toolStart', value: { calls } }
}

export function toolResult(callId: string, output = 'done'): Event {
  return { $case: 'toolResult', value: { callId, output, durationMs: 5, isError: false, denial: undefined } }
}

/** Builds the end of a turn that failed with that error, or of a successful one when it is empty. */
export function turnEnd(error = '', stopReason = error === '' ? 'stop' : 'failed'): Event {
  const detail = { kind: error === '' ? '' : 'failed', hint: 'try again', retryable: false, stopReason }
  return {
    $case: 'end',
    value: { agent: 'crab', error, model: 'm', usage: undefined, detail, costUsd: 0.5, turns: 1 },
  } as Event
}
