import { TurnSummary } from '../base/turn-summary.ts'
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
  readonly summary: TurnSummary<ToolDenial>
  /** Undefined while the turn runs. */
  end: StreamEnd | undefined
}

/** Returns the state of a turn before its first event. */
export function newTurnFold(): TurnFold {
  return { agent: '', run: '', session: '', model: '', summary: new TurnSummary(), end: undefined }
}

/** Updates the state of a turn with its next event. */
export function foldTurnEvent(turn: TurnFold, event: WireTurnEvent): void {
  const { summary } = turn
  switch (event.$case) {
    case 'start':
      turn.agent = event.value.agent
      turn.run = event.value.runId
      turn.session = event.value.sessionId
      turn.model = event.value.model
      break
    case 'textStart':
    case 'textEnd':
      summary.closeText()
      break
    case 'chunk':
      summary.addText(event.value.content)
      break
    case 'retry':
      summary.discardTexts(event.value.discardedTexts ?? 0)
      break
    case 'toolStart':
      summary.startCalls(event.value.calls.map(({ callId, name, server }) => ({ id: callId, name, server })))
      break
    case 'toolResult':
      summary.finishCall(event.value)
      break
    case 'end':
      summary.closeText()
      turn.end = event.value
      break
  }
}
