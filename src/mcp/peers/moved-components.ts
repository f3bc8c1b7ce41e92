import { DISCOVERY, getPortFile } from '../../core/config/component.ts'
import type { Claimed, Peers } from './peers.ts'

/**
 * What a turn may call, with components where they are now: one that has moved to another port is what it was, so turns
 * under way go on with it there. Other servers stay what the turn began with.
 */
export function followMovedComponents(
  claimed: readonly Claimed[],
  peers: Pick<Peers, 'claimedBy'>,
): readonly Claimed[] {
  const now = peers.claimedBy(DISCOVERY.id)
  if (!now) return claimed
  return claimed.map((claim) => {
    const isComponent = getPortFile(claim.entry) !== undefined
    return (isComponent && now.find(({ entry }) => entry.name === claim.entry.name)) || claim
  })
}
