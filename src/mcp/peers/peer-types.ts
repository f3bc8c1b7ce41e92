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

/**
 * A change of a server's state. `failed` includes a server that ended by itself; `disconnected` is
 * deliberate.
 */
export type PeerEvent = 'connecting' | 'connected' | 'failed' | 'disconnected'

/** The options for opening a link to a server. */
export interface OpenOptions {
  way: HttpVariant
  /** Receives the server's standard error; for a remote server, notes about the connection. */
  log: LineTail
  /**
   * Returns the longest time, in milliseconds, that a request waits when the server asks to be retried later.
   */
  patienceMs(): number
}

/** The dependencies of a peer. */
export interface PeerOptions extends PeerMemoryOptions {
  target: ServerTarget
  slots: StartSlots
  /** Opens a link to the server. */
  open(how: OpenOptions, signal: AbortSignal): Promise<ServerLink>
  onEvent(kind: PeerEvent): void
  onToolsChanged(): void
}
