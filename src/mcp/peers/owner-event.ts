import type { McpServerEvent } from '../../core/runtime/events.ts'
import type { DeclarationOwner } from '../types.ts'
import type { Peer } from './peer.ts'
import type { Claim, PeerEvent } from './peer-types.ts'

/** An event of a server, for one of its owners. */
export interface OwnerEvent {
  peer: Peer
  kind: PeerEvent
  claims: readonly Claim[]
  /** The claim of the owner that receives it. */
  claim: Claim
  at: number
}

/** Returns the owners of claims. */
export function toOwners(claims: readonly Claim[]): DeclarationOwner[] {
  return claims.map(({ agent, entry }) => ({ agent, name: entry.name }))
}

/** Converts an event to the one its owner receives. */
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
