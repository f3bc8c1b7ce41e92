import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'

/** A question on the screen and how far its answer has come. Replaced, never changed. */
export interface AskCard {
  askId: string
  /** Who asks. */
  agent: string
  ask: AskUserEvent
}
