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

/** Opens a link as openServerLink() does, and reports its messages to the frame tap. */
export async function openTracedLink(options: TracedLinkOptions, signal: AbortSignal): Promise<ServerLink> {
  const { peer, frames, log, now } = options
  const { target, fingerprint } = peer
  const traced = { fingerprint, target, owners: () => listOwners(peer), now }
  log.onLines = frames && tappedLines(frames, traced)
  const watch: OpenLinkOptions['watch'] = (inner) => (frames ? tracedTransport(inner, frames, traced) : inner)
  return await openServerLink({ ...options, target, watch }, signal)
}

/** Lists the owners of a server; one that is only being verified has none. */
function listOwners({ claims }: Peer): DeclarationOwner[] {
  return toOwners(claims.filter(({ agentId }) => agentId !== ''))
}
