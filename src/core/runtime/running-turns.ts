import { CrabError } from '../base/errors.ts'
import type { Trust } from '../policy/types.ts'
import type { Pair } from '../storage/types.ts'
import type { LeasedConversation } from './leased-conversation.ts'
import type { Steers } from './steers.ts'

/** Work that holds the lease of a conversation: a turn, or a compaction. */
export interface RunningWork {
  pair: Pair
  /** The agent's name. */
  agent: string
  trust: Trust
  /** The time when it got the lease, milliseconds since 1970. */
  since: number
  conversation: LeasedConversation
  /** Absent for a compaction. */
  runId?: string
  /** Absent when the work cannot be steered. */
  steers?: Steers
  /** Aborted when the work is being stopped. */
  signal: AbortSignal
  cancel(): void
}

/** The work that runs in this process, for steering and cancelling it. */
export class RunningTurns {
  readonly #running = new Set<RunningWork>()

  /** Adds work. Dispose the result when the work is over, before its conversation is released. */
  enter(running: RunningWork): Disposable {
    this.#running.add(running)
    return { [Symbol.dispose]: () => void this.#running.delete(running) }
  }

  /**
   * Queues a steering message for the pair's turn, the youngest if there are several.
   *
   * Throws `missing` when no running turn would still take it up, `denied` when a sender that is not local
   * would steer a local turn, `invalid` for an empty message, `conflict` while too much is queued.
   */
  steer(to: { pair: Pair; trust: Trust }, content: string): void {
    if (content.trim() === '') throw new CrabError('invalid', 'Cannot steer the turn: the message is empty')
    const turn = this.#find(to.pair).findLast(({ steers, signal }) => steers && !signal.aborted)
    if (turn && turn.trust === 'local' && to.trust !== 'local') {
      throw new CrabError('denied', 'Cannot steer the turn: only a local user can')
    }
    if (turn?.steers?.add(content)) return
    throw new CrabError('missing', 'Cannot steer: no turn of this conversation is running', {
      hint: 'send it as a message',
    })
  }

  /**
   * Stops everything that runs for a pair; returns false when nothing does. The work ends when its consumer
   * has seen the end.
   *
   * Throws `denied`, and stops nothing, when a sender that is not local would stop local work.
   */
  cancel({ pair, trust }: { pair: Pair; trust: Trust }): boolean {
    const found = this.#find(pair)
    if (trust !== 'local' && found.some((running) => running.trust === 'local')) {
      throw new CrabError('denied', 'Cannot interrupt the turn: only a local user can')
    }
    for (const { cancel } of found) cancel()
    return found.length > 0
  }

  /** Returns the conversation of a session while work in this process holds its lease. */
  findConversation(session: string): LeasedConversation | undefined {
    return [...this.#running].find(({ conversation }) => conversation.id === session)?.conversation
  }

  /** Returns all work in this process, oldest first. */
  list(): readonly RunningWork[] {
    return [...this.#running]
  }

  /** Whether any work of an agent runs in this process. */
  hasAgent(agentId: string): boolean {
    return [...this.#running].some(({ pair }) => pair.agentId === agentId)
  }

  #find({ agentId, sender }: Pair): RunningWork[] {
    return [...this.#running].filter(({ pair }) => pair.agentId === agentId && pair.sender === sender)
  }
}
