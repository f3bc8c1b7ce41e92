import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { HttpVariant } from '../connection/connect.ts'
import type { ServerLink } from '../connection/link.ts'
import type { ServerTarget } from '../fingerprint.ts'
import type { LineTail } from '../stdio/stderr-tail.ts'
import type { PeerMemoryOptions } from './peer-memory.ts'
import type { StartSlots } from './startup.ts'

/** One declaration of one agent. */
export interface Claim {
  agentId: string
  /** The agent's name. */
  agent: string
  entry: McpEntry
}

/** `failed` is also for a server that ended by itself; `disconnected` is deliberate. */
export type PeerEvent = 'connecting' | 'connected' | 'failed' | 'disconnected'

/** How a way to a server is opened. */
export interface OpenOptions {
  way: HttpVariant
  /** Takes what it writes to standard error; of one that has none, what there is to say of the connection. */
  log: LineTail
  /** How long a request may wait where the server asks for it. */
  patienceMs(): number
}

/** What a peer is made of. */
export interface PeerOptions extends PeerMemoryOptions {
  target: ServerTarget
  slots: StartSlots
  /** Opens a way to the server. */
  open(how: OpenOptions, signal: AbortSignal): Promise<ServerLink>
  onEvent(kind: PeerEvent): void
  onToolsChanged(): void
}
