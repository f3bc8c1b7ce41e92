import { CrabError } from '../base/errors.ts'
import type { Trust } from '../policy/types.ts'
import type { Pair } from '../storage/types.ts'
import type { LeasedConversation } from './leased-conversation.ts'
import type { Steers } from './steers.ts'

/** Work that has the exclusive right to a conversation: a turn, or a compaction. */
export interface RunningWork {
  pair: Pair
  /** The agent's name. */
  agent: string
  trust: Trust
  /** When it got the right, milliseconds since 1970. */
  since: number
  conversation: LeasedConversation
  /** Absent: a compaction. */
  runId?: string
  /** Absent: nothing can be said to it. */
  steers?: Steers
  /** Aborted when it is being stopped. */
  signal: AbortSignal
  cancel(): void
}

/** What runs in this process, for whoever wants to speak to it or stop it. */
export class RunningTurns {
  readonly #running = new Set<RunningWork>()

  /** Disposing says that it is over; before its conversation is given back. */
  enter(running: RunningWork): Disposable {
    this.#running.add(running)
    return { [Symbol.dispose]: () => void this.#running.delete(running) }
  }

  /**
   * Queues what is said to the pair's turn, the youngest if there are several.
   *
   * Throws `missing` when none runs that would still take it up, `denied` when the words come from elsewhere and would
   * be taken for those of a person at this machine, `invalid` for no words at all, `conflict` while too much waits.
   */
  steer(to: { pair: Pair; trust: Trust }, content: string): void {
    if (content.trim() === '') throw new CrabError('invalid', 'Cannot steer the turn: the message is empty')
    const turn = this.#find(to.pair).findLast(({ steers, signal }) => steers && !signal.aborted)
    if (turn && turn.trust === 'local' && to.trust !== 'local') {
      throw new CrabError('denied', 'Cannot steer the turn: only somebody at this machine can')
    }
    if (turn?.steers?.add(content)) return
    throw new CrabError('missing', 'Cannot steer: no turn of this conversation runs', {
      hint: 'send it as a message',
    })
  }

  /**
   * Stops everything that runs for a pair; false when nothing does. It ends when whoever follows it has seen the end.
   *
   * Throws `denied`, and stops nothing, when a stranger would stop what somebody at this machine began.
   */
  cancel({ pair, trust }: { pair: Pair; trust: Trust }): boolean {
    const found = this.#find(pair)
    if (trust !== 'local' && found.some((running) => running.trust === 'local')) {
      throw new CrabError('denied', 'Cannot cancel the turn: only somebody at this machine can')
    }
    for (const { cancel } of found) cancel()
    return found.length > 0
  }

  /** The conversation of a session while something here has the right to it. */
  conversationOf(session: string): LeasedConversation | undefined {
    return [...this.#running].find(({ conversation }) => conversation.id === session)?.conversation
  }

  /** All that runs here, oldest first. */
  list(): readonly RunningWork[] {
    return [...this.#running]
  }

  /** Whether anything of an agent runs here. */
  hasAgent(agentId: string): boolean {
    return [...this.#running].some(({ pair }) => pair.agentId === agentId)
  }

  #find({ agentId, sender }: Pair): RunningWork[] {
    return [...this.#running].filter(({ pair }) => pair.agentId === agentId && pair.sender === sender)
  }
}
