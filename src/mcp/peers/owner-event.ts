import type { McpServerEvent } from '../../core/runtime/events.ts'
import type { DeclarationOwner } from '../types.ts'
import type { Peer } from './peer.ts'
import type { Claim, PeerEvent } from './peer-types.ts'

/** Something that happened to a server, for one of its owners. */
export interface OwnerEvent {
  peer: Peer
  kind: PeerEvent
  claims: readonly Claim[]
  /** Whose event it is. */
  claim: Claim
  at: number
}

/** Whose declarations they are. */
export function toOwners(claims: readonly Claim[]): DeclarationOwner[] {
  return claims.map(({ agent, entry }) => ({ agent, name: entry.name }))
}

/** An event as one of the owners is told it. */
export function toEvent({ peer, kind, claims, claim, at }: OwnerEvent): McpServerEvent {
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
