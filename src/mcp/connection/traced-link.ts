import type { Peer } from '../peers/peer.ts'
import { toOwners } from '../peers/peer-events.ts'
import type { FrameTap, Owner } from '../types.ts'
import type { Link } from './link.ts'
import { type OpenLinkOptions, openLink } from './open-link.ts'
import { tappedLines, tracedTransport } from './trace.ts'

export interface TracedLinkOptions extends Omit<OpenLinkOptions, 'target' | 'watch'> {
  peer: Peer
  /** Sees every message. */
  frames?: FrameTap | undefined
}

/** Opens a way to a server as openLink() does; what passes is told to those who want to know. */
export async function openTracedLink(options: TracedLinkOptions, signal: AbortSignal): Promise<Link> {
  const { peer, frames, log, now } = options
  const { target, fingerprint } = peer
  const traced = { fingerprint, target, owners: () => ownersOf(peer), now }
  log.onLines = frames && tappedLines(frames, traced)
  const watch: OpenLinkOptions['watch'] = (inner) => (frames ? tracedTransport(inner, frames, traced) : inner)
  return await openLink({ ...options, target, watch }, signal)
}

/** Nobody owns what is only looked at. */
function ownersOf({ claims }: Peer): Owner[] {
  return toOwners(claims.filter(({ agentId }) => agentId !== ''))
}
