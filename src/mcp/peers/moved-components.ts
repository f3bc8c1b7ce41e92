import { DISCOVERY, getPortFile } from '../../core/config/component.ts'
import type { Claimed, Peers } from './peers.ts'

/**
 * Replaces claims on components by the current ones: a component that moved to another port is still the
 * same, so turns under way continue to use it there. Other servers stay as the turn started with them.
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
