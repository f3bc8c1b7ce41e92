import { classifySender } from '../base/sender-class.ts'
import type { Trust } from './types.ts'

/**
 * The way that a message reached the daemon: inside this process, through the home's own socket or pipe, or over TCP.
 *
 * The first two are programs of this user; every TCP client is untrusted.
 */
export type Channel = 'process' | 'local' | TcpClient

/** A client that connected over TCP. */
export interface TcpClient {
  readonly kind: 'tcp'
  /** The token that it authenticated with; absent where none is needed. */
  readonly token?: ClientToken
  /** Tells whether a namespace of senders belongs to a token; asked for clients without a token of their own only. */
  isTaken?(namespace: string): boolean
  /** Notes an operation, as the proto file names it, that the client was refused. */
  refused?(operation: string, reason: string): void
}

/** A client token, as far as it limits what its client may reach. */
export interface ClientToken {
  readonly name: string
  /** The only agent that the client may talk to; absent: any. */
  readonly agent?: string
}

/** A TCP client that showed no token, where no namespace is taken. */
export const TCP_CLIENT: TcpClient = { kind: 'tcp' }

/** Tells whether a client is a program of this user, or an untrusted one. */
export function classifyClient(channel: Channel): 'local' | 'remote' {
  return typeof channel === 'string' ? 'local' : 'remote'
}

/**
 * Computes the class of a turn. A sender is a text that its client chose, so it never gives more than the channel.
 *
 * A delegated turn has the class of the turn that delegates, which is `caller`; without one it is remote. `unattended`
 * says that no person waits for the turn: it is never local then.
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
