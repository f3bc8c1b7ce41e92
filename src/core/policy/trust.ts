import type { Trust } from './types.ts'

/** How a message came: from this process, through the home's own socket or pipe, or over TCP. */
export type Channel = 'process' | 'local' | 'tcp'

/**
 * Where a turn comes from (decision 29). A sender is a text its client chose: it never gives more than its channel.
 *
 * A delegated turn has the class of the turn that delegates, which is `caller`; without one it is remote.
 */
export function trustOf(channel: Channel, sender: string, caller: Trust = 'remote'): Trust {
  if (sender.startsWith('delegate:')) return caller
  if (channel === 'tcp') return 'remote'
  if (channel === 'process') return 'local'
  if (sender === 'cron' || sender.startsWith('event:')) return 'unattended'
  return sender.includes(':') && !sender.startsWith('sh:') ? 'remote' : 'local'
}

/**
 * Where a turn comes from on which nobody looks, as its client says: it never gets more than what comes by the home's own
 * socket, and nobody is asked.
 */
export function unattendedTrustOf(channel: Channel, sender: string): Trust {
  const trust = trustOf(channel === 'process' ? 'local' : channel, sender)
  return trust === 'local' ? 'unattended' : trust
}

/**
 * Whether whoever comes by that channel may change what belongs to that sender; without one, what belongs to everybody
 * here. Who is not at this machine may only change what is of their own class.
 */
export function mayChange(channel: Channel, sender = ''): boolean {
  const here = trustOf(channel, '')
  return here === 'local' || trustOf(channel, sender, here) === trustOf('local', sender, 'local')
}

/**
 * Whose conversations are one's own (decision 38): for somebody at this machine those of everybody there, for all
 * others exactly those under the sender's own name.
 */
export function ownSenders(trust: Trust, sender: string): (other: string) => boolean {
  if (trust !== 'local') return (other) => other === sender
  return (other) => other === sender || trustOf('local', other) === 'local'
}
