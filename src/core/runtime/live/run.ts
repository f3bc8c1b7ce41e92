import type { CrabError } from '../../base/errors.ts'
import type { TurnSummary } from '../../base/turn-summary.ts'
import type { Trust } from '../../policy/types.ts'
import type { Denial } from '../asks.ts'
import type { AgentEvent, TurnStart } from '../events.ts'

/** The last event of every turn. */
export type EndEvent = Extract<AgentEvent, { type: 'end' }>

/** The cause of a turn that no client requested. */
export interface Origin {
  /** The published event that fired it. */
  eventId: string
  /** The number of events that led to it, including that one. */
  depth: number
}

/** A turn, from the moment it is requested. */
export interface TurnRun {
  readonly id: string
  /** The name in the request; `start` has the agent's own spelling. */
  readonly agent: string
  readonly sender: string
  readonly trust: Trust
  readonly guest: string | undefined
  /** Whether nothing of it is stored. */
  readonly ephemeral: boolean
  readonly origin: Origin | undefined
  /** Whether it continues when its client disconnects. */
  readonly detached: boolean
  /** Undefined while it waits for its conversation. */
  start: TurnStart | undefined
  /** The time of `start`, in milliseconds since 1970. */
  startedAt: number | undefined
  readonly summary: TurnSummary<Denial>
  /** The failed attempt of a model call that has not answered since. */
  retry: Extract<AgentEvent, { type: 'retry' }> | undefined
  /** The ids of the questions that wait for an answer. */
  readonly openAsks: Set<string>
  end: EndEvent | undefined
}

/** A run with its end event. */
export interface RunEnd {
  run: TurnRun
  end: EndEvent
}

/** Updates a run's state with an event. */
export function foldAgentEvent(run: TurnRun, event: AgentEvent): void {
  const { summary, openAsks } = run
  if (event.type === 'start') run.start = event
  if (event.type === 'text') summary.addText(event.delta)
  if (event.type === 'text-end') summary.closeText()
  if (event.type === 'retry') summary.discardTexts(event.discardedTexts ?? 0)
  if (event.type === 'retry') run.retry = event
  else if (ANSWERS.has(event.type)) run.retry = undefined
  if (event.type === 'tool-start')
    summary.startCalls(event.calls.map(({ id, name, server = '' }) => ({ id, name, server })))
  if (event.type === 'tool-result') summary.finishCall(event)
  if (event.type === 'ask') openAsks.add(event.ask.id)
  if (event.type === 'ask-closed') openAsks.delete(event.askId)
  if (event.type === 'end') run.end = event
}

/** The events with which a model call begins to answer, or the turn is over. */
const ANSWERS: ReadonlySet<AgentEvent['type']> = new Set([
  'text-start',
  'thinking-start',
  'tool-start',
  'end',
])

/** Returns the events that close the questions that are still open when a run ends. */
export function closingEvents({ openAsks }: TurnRun, { error }: EndEvent): AgentEvent[] {
  const by = error?.kind ?? 'cancelled'
  return [...openAsks].map((askId) => ({ type: 'ask-closed', askId, by, answers: undefined }))
}

/** Builds the end event of a run that failed before it emitted one. */
export function brokenEnd({ start, agent: requestedName }: TurnRun, error: CrabError): EndEvent {
  const agent = start?.agent ?? requestedName
  const stopReason = error.kind === 'cancelled' ? 'cancelled' : 'failed'
  const nothing = { usage: undefined, turns: 0, costUsd: undefined }
  return { type: 'end', agent, model: start?.model ?? '', stopReason, error, ...nothing }
}
