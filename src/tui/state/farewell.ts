import { isCurrent, otherRuns, type Unanswered, unansweredAsks } from './pending-asks.ts'
import type { ChatState } from './types.ts'

/** The facts that the user should know when the chat has been left. */
export interface Farewell {
  /** The session that can be continued; undefined when nothing was said. */
  session: string | undefined
  /** The turn that continues in the daemon, if any: its run id, or its address before it has one. */
  running: string | undefined
  /** The number of turns of other conversations that run in the daemon. */
  others: number
  /** The number of questions of other conversations that wait in the daemon. */
  otherAsks: number
  unanswered: Unanswered | undefined
}

/** Collects the facts for the user, before the chat ends its work. */
export function toFarewell(state: ChatState): Farewell {
  const { session, turn, place, isLinkLost, agent, sender } = state
  const isInDaemon = place === 'daemon' && !isLinkLost
  const address = turn && (turn.runId || `${agent}/${sender}`)
  return {
    session,
    running: isInDaemon ? address : undefined,
    others: isInDaemon ? otherRuns(state).length : 0,
    otherAsks: isInDaemon ? state.asks.filter((card) => !isCurrent(state, card)).length : 0,
    unanswered: unansweredAsks(state),
  }
}
