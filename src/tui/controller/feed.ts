import { abortable } from '../../core/base/abortable.ts'
import { toCrabError } from '../../core/base/errors.ts'
import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import { ConversationFollower } from './conversation-follower.ts'
import { OwnRuns } from './own-runs.ts'
import type { Opening } from './show-conversation.ts'

export interface FeedOptions {
  store: ChatStore
  ports: ChatPorts
  /** Aborted when the chat is over. */
  signal: AbortSignal
}

/** What the chat shows of turns: everything that happens to the conversation that is open. */
export class Feed {
  readonly own = new OwnRuns()
  readonly #options: FeedOptions
  #follower: { at: ConversationFollower; stop: AbortController } | undefined
  #pendingChanges: Promise<unknown> = Promise.resolve()
  /** No turn runs any more. */
  onTurnOver: () => void = () => {}

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** Shows a conversation, the active one of a pair, and follows it; resolves when it stands there. Throws why it cannot. */
  async follow(
    pair: { agent: string; sender: string },
    opening: Opening,
    signal: AbortSignal,
  ): Promise<void> {
    await abortable(this.#begin(pair, opening).shown, signal)
  }

  /** Resolves when the conversation that is shown is followed over a connection that stands. Throws why it cannot be. */
  async ready(signal: AbortSignal): Promise<void> {
    const { agent, sender } = this.#options.store.get()
    const at = this.#follower?.at ?? this.#begin({ agent, sender }, 'first')
    await abortable(at.connected, signal)
  }

  /** Does something that changes the conversation; what is told of it meanwhile is shown afterwards. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    const done = work()
    this.#pendingChanges = Promise.allSettled([this.#pendingChanges, done])
    return await done
  }

  /** Follows no conversation any more, until the next is asked for. */
  stop(): void {
    this.#follower?.stop.abort()
    this.#follower = undefined
  }

  /** Resolves when the end of a run was shown, or it is known that none will come. */
  async ended(runId: string, signal: AbortSignal): Promise<void> {
    if (this.#follower) await abortable(this.#follower.at.ended(runId), signal)
  }

  #begin(pair: { agent: string; sender: string }, opening: Opening): ConversationFollower {
    this.stop()
    const stop = new AbortController()
    const { store, ports, signal } = this.#options
    const held = () => this.#pendingChanges
    const onTurnOver = () => this.onTurnOver()
    const at = new ConversationFollower(
      { store, ports, own: this.own, whenSettled: held, onTurnOver },
      pair,
      opening,
    )
    const following = { at, stop }
    this.#follower = following
    at.run(AbortSignal.any([signal, stop.signal])).catch((reason) => {
      if (this.#follower === following) this.#follower = undefined
      this.#tell(reason, at)
    })
    return at
  }

  /** What keeps a conversation from being shown at all is told by whoever opens it. */
  #tell(reason: unknown, at: ConversationFollower): void {
    const { kind, message, hint } = toCrabError(reason)
    if (kind === 'cancelled' || !at.isShown) return
    const text = `The conversation is no longer followed. ${message}`
    this.#options.store.act({
      type: 'turn-left',
      text: 'What becomes of the turn is not known',
      tone: 'warning',
    })
    this.#options.store.act({ type: 'print', block: { kind: 'notice', tone: 'error', text, hint } })
  }
}
