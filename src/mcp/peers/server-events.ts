import { getProjectServerFile } from '../../core/config/project-server-file.ts'
import type { McpServerEvent } from '../../core/runtime/events.ts'
import type { DeclarationOwner } from '../types.ts'
import type { Claim, PeerEvent } from './peer.ts'

/** An event of a server, for one of its owners. */
interface OwnerEvent {
  kind: PeerEvent
  claims: readonly Claim[]
  /** The claim of the owner that receives it. */
  claim: Claim
  at: number
}

/**
 * Returns the owners of a server by its claims, each once: several conversations of an agent may use one. A server
 * that is only being verified has none.
 */
export function toOwners(claims: readonly Claim[]): DeclarationOwner[] {
  const owners = claims.filter(isDeclared).map(({ agent, entry }): DeclarationOwner => {
    const project = getProjectServerFile(entry)
    return { agent, name: entry.name, ...(project && { file: project.file }) }
  })
  return [...new Map(owners.map((owner) => [JSON.stringify(owner), owner])).values()]
}

/** Converts an event to the one its owner receives. */
export function toEvent({ kind, claims, claim, at }: OwnerEvent): McpServerEvent {
  const { peer } = claim
  return {
    kind,
    agent: claim.agent,
    name: claim.entry.name,
    fingerprint: peer.fingerprint,
    owners: toOwners(claims),
    tools: kind === 'connected' ? (peer.list?.tools.map(({ name }) => name) ?? []) : [],
    error: kind === 'failed' ? (peer.error?.message ?? '') : '',
    at,
  }
}

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
  emit(kind: PeerEvent, claims: readonly Claim[]): void {
    for (const claim of claims.filter(isDeclared)) this.#emitOne({ kind, claims, claim })
  }

  /** Emits the current state of a running server to a new owner; later events reach it like the others. */
  emitCurrentState(claim: Claim): void {
    const { state, claims } = claim.peer
    if (state !== 'connected' && state !== 'connecting') return
    this.#emitOne({ kind: state, claims, claim })
  }

  /** Tells an owner that it has left a server whose state it knows. The event names the owners that remain. */
  emitDeparture(claim: Claim, remaining: readonly Claim[]): void {
    const { state } = claim.peer
    if (state !== 'idle' && state !== 'invalid')
      this.#emitOne({ kind: 'disconnected', claims: remaining, claim })
  }

  #emitOne(ownerEvent: Omit<OwnerEvent, 'at'>): void {
    const event = toEvent({ ...ownerEvent, at: this.#now() })
    for (const listener of this.#listeners) listener(event)
  }
}

function isDeclared({ agentId }: Claim): boolean {
  return agentId !== ''
}
