import type { McpServerEvent } from '../../core/runtime/events.ts'
import type { PeerClaim } from './claims.ts'
import { type OwnerEvent, toEvent } from './owner-event.ts'
import type { Peer } from './peer.ts'
import type { Claim, PeerEvent } from './peer-types.ts'

type Listener = (event: McpServerEvent) => void

/** Tells those who listen what happens to servers, once for each owner. */
export class PeerEmitter {
  readonly #now: () => number
  readonly #listeners = new Set<Listener>()

  /** `now` is milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The listener must not throw; it is told until it is disposed. */
  listen(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
  }

  /** Nobody is told of a server that is only looked at. */
  emit(peer: Peer, kind: PeerEvent, claims: readonly Claim[]): void {
    for (const claim of claims.filter(({ agentId }) => agentId !== '')) {
      this.#emitOne({ peer, kind, claims, claim })
    }
  }

  /** A new owner of what others have begun to use hears how it stands; the rest it hears with them. */
  welcome(claim: PeerClaim): void {
    const { state } = claim.peer
    if (state !== 'connected' && state !== 'connecting') return
    this.#emitOne({ peer: claim.peer, kind: state, claims: claim.peer.claims, claim })
  }

  #emitOne(happening: Omit<OwnerEvent, 'at'>): void {
    const event = toEvent({ ...happening, at: this.#now() })
    for (const listener of this.#listeners) listener(event)
  }
}
