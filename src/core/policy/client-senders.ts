import { BUILT_IN } from '../base/token-name.ts'
import type { TcpClient } from './trust.ts'

/** The sender of a message that names none. */
const DEFAULT_SENDER = 'user'

/** The word that the senders of a TCP client begin with: the name of its token, `tcp` without one. */
export function namespaceOf({ token }: TcpClient): string {
  return token?.name ?? BUILT_IN
}

/** Puts a sender without a colon into the client's namespace: `ann` of the token `web` is `web:ann`. */
export function qualifySender(client: TcpClient, sender = ''): string {
  const name = sender || DEFAULT_SENDER
  return name.includes(':') ? name : `${namespaceOf(client)}:${name}`
}

/**
 * Tells whether a TCP client may speak as a sender: with a token of its own only in its namespace, with the built-in one
 * (a gateway's `tg:1`) also in those that no token has.
 */
export function isInNamespace(client: TcpClient, sender: string): boolean {
  const own = namespaceOf(client)
  if (sender.startsWith(`${own}:`)) return true
  if (own !== BUILT_IN) return false
  return !client.isTaken?.(sender.slice(0, sender.indexOf(':')))
}
