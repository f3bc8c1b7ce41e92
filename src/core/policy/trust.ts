import { classifySender } from '../base/sender-class.ts'
import type { Trust } from './types.ts'

/**
 * The channel through which a message reached the daemon: this process, the home's own socket or pipe, or
 * TCP.
 *
 * Clients on the first two are programs of this user; every TCP client is untrusted.
 */
export type Channel = 'process' | 'local' | TcpClient

/** A client that connected over TCP. */
export interface TcpClient {
  readonly kind: 'tcp'
  /** The token that it authenticated with; absent when the daemon requires none. */
  readonly token?: ClientToken
  /**
   * Returns whether a namespace of senders belongs to a token. Called only for clients without their own
   * token.
   */
  isTaken?(namespace: string): boolean
  /** Records an operation, by its name in the proto file, that was denied to the client. */
  refused?(operation: string, reason: string): void
}

/** The part of a client token that limits what its client may access. */
export interface ClientToken {
  readonly name: string
  /** The only agent that the client may talk to. Absent: any agent. */
  readonly agent?: string
}

/** A TCP client without a token, for which no namespace is taken. */
export const TCP_CLIENT: TcpClient = { kind: 'tcp' }

/** Returns whether a client is a program of this user (`local`) or untrusted (`remote`). */
export function classifyClient(channel: Channel): 'local' | 'remote' {
  return typeof channel === 'string' ? 'local' : 'remote'
}

/**
 * Returns the class of a turn. The client chooses the sender, so a sender never grants more than the channel
 * does.
 *
 * A delegated turn has the class of the delegating turn, `caller`, or `remote` without one. With
 * `unattended`, no user waits for the turn, so it is never local.
 */
export function classifyTurn(
  channel: Channel,
  sender: string,
  { caller = 'remote', unattended = false }: { caller?: Trust; unattended?: boolean } = {},
): Trust {
  if (classifyClient(channel) === 'remote') return 'remote'
  const trust = sender.startsWith('delegate:') ? caller : classifySender(sender)
  return trust === 'local' && unattended ? 'unattended' : trust
}
