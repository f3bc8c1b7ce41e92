import type { AskInfo, AttachState, SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'

/** The output of a followed conversation; a returned promise asks to wait for a slow reader. */
export interface FollowView {
  /** Shows the current state; `isOther`: the conversation now continues in another session. */
  state(state: AttachState, isOther: boolean): Promise<void> | undefined
  /** Shows an earlier message. */
  history(message: SessionMessage): Promise<void> | undefined
  /** Shows a message that the user just sent. */
  userMessage(message: SessionMessage): Promise<void> | undefined
  /** Shows a question that is already pending, whose turn began before what is stored. */
  pendingAsk(ask: AskInfo): Promise<void> | undefined
  event(event: WireTurnEvent): Promise<void> | undefined
}
