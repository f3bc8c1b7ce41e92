import { foldName } from '../config/agent-schema.ts'
import { type Channel, trustOf } from './trust.ts'
import type { Trust } from './types.ts'

/** A conversation as a client names it: an agent and a sender. */
export interface NamedPair {
  agent: string
  sender: string
}

/**
 * Tells whether a pair belongs to a client. Programs of this user own every pair. A TCP client owns the pairs of untrusted
 * senders (`tg:1`) with the agents that its token allows; never those of people, schedules, events and delegates here.
 */
export function ownsPair(channel: Channel, { agent, sender }: NamedPair): boolean {
  if (typeof channel === 'string') return true
  const { agent: only } = channel.token ?? {}
  if (only !== undefined && foldName(only) !== foldName(agent)) return false
  return trustOf('local', sender) === 'remote' && !sender.startsWith('delegate:')
}

/**
 * Gives the test of which senders' conversations a turn may search: all of this user's own for a local turn, exactly its
 * own sender's for any other.
 */
export function ownSenders(trust: Trust, sender: string): (other: string) => boolean {
  if (trust !== 'local') return (other) => other === sender
  return (other) => other === sender || trustOf('local', other) === 'local'
}
