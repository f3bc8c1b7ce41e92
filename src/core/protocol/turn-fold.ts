import { TurnTally } from '../base/turn-tally.ts'
import type { StreamEnd, StreamEvent, ToolDenial } from './crabtalk.generated.ts'

/** An event of a turn in its wire form. */
export type WireTurnEvent = NonNullable<StreamEvent['event']>

/** The state of a turn, as far as its events tell. */
export interface TurnFold {
  /** The agent that speaks. */
  agent: string
  run: string
  session: string
  model: string
  readonly tally: TurnTally<ToolDenial>
  /** Undefined while the turn runs. */
  end: StreamEnd | undefined
}

/** Returns the state of a turn before its first event. */
export function newTurnFold(): TurnFold {
  return { agent: '', run: '', session: '', model: '', tally: new TurnTally(), end: undefined }
}

/** Updates the state of a turn with its next event. */
export function foldTurnEvent(turn: TurnFold, event: WireTurnEvent): void {
  const { tally } = turn
  switch (event.$case) {
    case 'start':
      turn.agent = event.value.agent
      turn.run = event.value.runId
      turn.session = event.value.sessionId
      turn.model = event.value.model
      break
    case 'textStart':
    case 'textEnd':
      tally.closeText()
      break
    case 'chunk':
      tally.addText(event.value.content)
      break
    case 'toolStart':
      tally.startCalls(event.value.calls.map(({ callId, name, server }) => ({ id: callId, name, server })))
      break
    case 'toolResult':
      tally.finishCall(event.value)
      break
    case 'end':
      tally.closeText()
      turn.end = event.value
      break
  }
}
