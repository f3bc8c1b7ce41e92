import { BUILT_IN_TOKEN } from '../base/token-name.ts'
import { foldName } from '../config/agent-schema.ts'
import { DEFAULT_AGENT } from '../config/default-name.ts'
import { type Channel, classifyTurn, type TcpClient } from './trust.ts'

/** The sender of a message that does not name one. */
const DEFAULT_SENDER = 'user'

/** A conversation as a message names it; empty parts stand for the defaults. */
interface MessagePair {
  agent?: string | undefined
  sender?: string | undefined
}

/**
 * Completes the pair of a message. For a TCP client, the default agent is the one that its token allows, and
 * a sender without a colon is put into its namespace: `ann` becomes `web:ann` for the token `web`. A complete
 * pair is returned unchanged.
 */
export function completePair(
  channel: Channel,
  { agent, sender }: MessagePair,
): { agent: string; sender: string } {
  const name = sender || DEFAULT_SENDER
  if (typeof channel === 'string') return { agent: agent || DEFAULT_AGENT, sender: name }
  const own = agent || channel.token?.agent || DEFAULT_AGENT
  return { agent: own, sender: name.includes(':') ? name : `${getNamespace(channel)}:${name}` }
}

/** Returns the prefix of a TCP client's senders: the name of its token, or `tcp` without one. */
export function getNamespace({ token }: TcpClient): string {
  return token?.name ?? BUILT_IN_TOKEN
}

/**
 * Whether a TCP client may use a sender. With its own token it may use only its namespace; with the built-in
 * token (a gateway's `tg:1`) also namespaces that no token has.
 */
export function isInNamespace(client: TcpClient, sender: string): boolean {
  const own = getNamespace(client)
  if (sender.startsWith(`${own}:`)) return true
  if (own !== BUILT_IN_TOKEN) return false
  return !client.isTaken?.(sender.slice(0, sender.indexOf(':')))
}

/** A conversation as a client names it: an agent and a sender. */
export interface NamedPair {
  agent: string
  sender: string
}

/**
 * Tells whether a pair belongs to a client. Programs of this user own every pair. A TCP client owns the pairs of untrusted
 * senders (`tg:1`) of its namespace with the agents that its token allows; never those of people, schedules, events and
 * delegates here.
 */
export function ownsPair(channel: Channel, { agent, sender }: NamedPair): boolean {
  if (typeof channel === 'string') return true
  const { agent: only } = channel.token ?? {}
  if (only !== undefined && foldName(only) !== foldName(agent)) return false
  return isForClients(sender) && isInNamespace(channel, sender)
}

/** Tells whether TCP clients may speak as a sender at all: schedules, events, delegates and people here are others. */
export function isForClients(sender: string): boolean {
  return classifyTurn('local', sender) === 'remote' && !sender.startsWith('delegate:')
}
