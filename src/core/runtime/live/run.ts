import { CrabError } from '../../base/errors.ts'
import type { Trust } from '../../policy/types.ts'
import type { AgentEvent, TurnStart } from '../events.ts'
import { RunTally } from './run-tally.ts'

export type EndEvent = Extract<AgentEvent, { type: 'end' }>

/** What led to a turn that no client asked for. */
export interface Origin {
  /** The published event that fired it. */
  eventId: string
  /** How many events led to it, that one included. */
  depth: number
}

/** A turn, from when it was asked for. */
export interface TurnRun {
  readonly id: string
  /** As it was asked for; `start` has the name it goes by. */
  readonly agent: string
  readonly sender: string
  readonly trust: Trust
  readonly guest: string | undefined
  /** Nothing of it is stored. */
  readonly ephemeral: boolean
  readonly origin: Origin | undefined
  /** Nobody's hanging up cancels it. */
  readonly detached: boolean
  /** Undefined while it waits for its conversation. */
  start: TurnStart | undefined
  /** Text of all steps, separated by blank lines. */
  text: string
  /** Absent: it has called no tool. */
  tally?: RunTally
  end: EndEvent | undefined
}

/** How a run went. */
export interface RunEnd {
  run: TurnRun
  end: EndEvent
}

/** Adds an event to what is known of a run. */
export function applyEvent(run: TurnRun, event: AgentEvent): void {
  if (event.type === 'start') run.start = event
  if (event.type === 'text-start' && run.text !== '') run.text += '\n\n'
  if (event.type === 'text') run.text += event.delta
  if (event.type === 'tool-start') run.tally ??= new RunTally()
  run.tally?.take(event)
  if (event.type === 'end') run.end = event
}

/** How a turn ends that whoever followed it has left, or that broke before it could say so. */
export function brokenEnd({ start, agent: asked }: TurnRun, error: CrabError): EndEvent {
  const agent = start?.agent ?? asked
  const stopReason = error.kind === 'cancelled' ? 'cancelled' : 'failed'
  const nothing = { usage: undefined, turns: 0, costUsd: undefined }
  return { type: 'end', agent, model: start?.model ?? '', stopReason, error, ...nothing }
}

export function clientLeft(): CrabError {
  return new CrabError('cancelled', 'Cancelled: the client left')
}
