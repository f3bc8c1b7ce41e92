import { toOwners } from '../peers/owner-event.ts'
import type { Peer } from '../peers/peer.ts'
import type { DeclarationOwner, FrameTap } from '../types.ts'
import type { ServerLink } from './link.ts'
import { type OpenLinkOptions, openServerLink } from './open-link.ts'
import { tappedLines, tracedTransport } from './trace.ts'

export interface TracedLinkOptions extends Omit<OpenLinkOptions, 'target' | 'watch'> {
  peer: Peer
  /** Sees every message. */
  frames?: FrameTap | undefined
}

/** Opens a way to a server as openServerLink() does; what passes is told to those who want to know. */
export async function openTracedLink(options: TracedLinkOptions, signal: AbortSignal): Promise<ServerLink> {
  const { peer, frames, log, now } = options
  const { target, fingerprint } = peer
  const traced = { fingerprint, target, owners: () => listOwners(peer), now }
  log.onLines = frames && tappedLines(frames, traced)
  const watch: OpenLinkOptions['watch'] = (inner) => (frames ? tracedTransport(inner, frames, traced) : inner)
  return await openServerLink({ ...options, target, watch }, signal)
}

/** Nobody owns what is only looked at. */
function listOwners({ claims }: Peer): DeclarationOwner[] {
  return toOwners(claims.filter(({ agentId }) => agentId !== ''))
}
