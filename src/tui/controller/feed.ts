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
  /** Aborted when the chat ends. */
  signal: AbortSignal
}

/** Follows the open conversation and shows everything that happens to it. */
export class Feed {
  readonly own = new OwnRuns()
  readonly #options: FeedOptions
  #follower: { at: ConversationFollower; stop: AbortController } | undefined
  #pendingChanges: Promise<unknown> = Promise.resolve()
  /** Called when no turn is running any more. */
  onTurnOver: () => void = () => {}

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /**
   * Shows and follows the active conversation of a pair. Resolves when it is on the screen; throws when it
   * cannot be followed.
   */
  async follow(
    pair: { agent: string; sender: string },
    opening: Opening,
    signal: AbortSignal,
  ): Promise<void> {
    await abortable(this.#begin(pair, opening).shown, signal)
  }

  /**
   * Resolves when the shown conversation is followed over a working connection. Throws when that is not
   * possible.
   */
  async ready(signal: AbortSignal): Promise<void> {
    const { agent, sender } = this.#options.store.get()
    const at = this.#follower?.at ?? this.#begin({ agent, sender }, { as: 'first' })
    await abortable(at.connected, signal)
  }

  /** Runs work that changes the conversation. Updates that arrive meanwhile are shown afterwards. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    const done = work()
    this.#pendingChanges = Promise.allSettled([this.#pendingChanges, done])
    return await done
  }

  /** Stops following until `follow` or `ready` is called again. */
  stop(): void {
    this.#follower?.stop.abort()
    this.#follower = undefined
  }

  /** Resolves when the end of a run has been shown, or can no longer arrive. */
  async ended(runId: string, signal: AbortSignal): Promise<void> {
    if (this.#follower) await abortable(this.#follower.at.ended(runId), signal)
  }

  #begin(pair: { agent: string; sender: string }, opening: Opening): ConversationFollower {
    this.stop()
    const stop = new AbortController()
    const { store, ports, signal } = this.#options
    const whenSettled = () => this.#pendingChanges
    const onTurnOver = () => this.onTurnOver()
    const at = new ConversationFollower(
      { store, ports, own: this.own, whenSettled, onTurnOver },
      pair,
      opening,
    )
    const following = { at, stop }
    this.#follower = following
    at.run(AbortSignal.any([signal, stop.signal])).catch((reason) => {
      if (this.#follower === following) this.#follower = undefined
      this.#report(reason, at)
    })
    return at
  }

  /** Prints why following ended. The caller that opens a conversation reports why it cannot be shown at all. */
  #report(reason: unknown, at: ConversationFollower): void {
    const { kind, message, hint } = toCrabError(reason)
    if (kind === 'cancelled' || !at.isShown) return
    const text = `This window no longer follows the conversation. ${message}`
    this.#options.store.act({
      type: 'turn-detached',
      text: 'Lost contact: the turn may still be running',
      tone: 'warning',
    })
    this.#options.store.act({ type: 'print', block: { kind: 'notice', tone: 'error', text, hint } })
  }
}
