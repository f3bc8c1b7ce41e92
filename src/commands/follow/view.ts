import type { AskInfo, AttachState, SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import type { WireTurnEvent } from '../send/sink.ts'

/** What follows a conversation shows; a promise asks to wait for a slow reader. */
export interface FollowView {
  /** How it stands now; `isOther`: it goes on in another session than before. */
  state(state: AttachState, isOther: boolean): Promise<void> | undefined
  /** One of the messages from before. */
  history(message: SessionMessage): Promise<void> | undefined
  /** A person's message, just now. */
  userMessage(message: SessionMessage): Promise<void> | undefined
  /** A question that waits already, whose turn began before what is kept. */
  pendingAsk(ask: AskInfo): Promise<void> | undefined
  event(event: WireTurnEvent): Promise<void> | undefined
}
