import type { McpServerEvent } from '../../core/runtime/events.ts'
import type { PeerClaim } from './claims.ts'
import { type OwnerEvent, toEvent } from './owner-event.ts'
import type { Peer } from './peer.ts'
import type { Claim, PeerEvent } from './peer-types.ts'

type Listener = (event: McpServerEvent) => void

/** Emits the events of servers to listeners, once for each owner. */
export class PeerEmitter {
  readonly #now: () => number
  readonly #listeners = new Set<Listener>()

  /** `now` is milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Adds a listener, until disposed. It must not throw. */
  listen(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
  }

  /** Emits an event for each owner; a server that is only being verified has none. */
  emit(peer: Peer, kind: PeerEvent, claims: readonly Claim[]): void {
    for (const claim of claims.filter(({ agentId }) => agentId !== '')) {
      this.#emitOne({ peer, kind, claims, claim })
    }
  }

  /** Emits the current state of a running server to a new owner; later events reach it like the others. */
  welcome(claim: PeerClaim): void {
    const { state } = claim.peer
    if (state !== 'connected' && state !== 'connecting') return
    this.#emitOne({ peer: claim.peer, kind: state, claims: claim.peer.claims, claim })
  }

  #emitOne(ownerEvent: Omit<OwnerEvent, 'at'>): void {
    const event = toEvent({ ...ownerEvent, at: this.#now() })
    for (const listener of this.#listeners) listener(event)
  }
}
