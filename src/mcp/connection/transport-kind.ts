import type { Transport } from '@modelcontextprotocol/client'

/**
 * Makes a wrapping transport look like `inner` in everything the SDK uses to tell a local program from a URL.
 */
export function sameKind(inner: Transport, outer: Transport): Transport {
  if ('stderr' in inner) return Object.assign(outer, { stderr: null, pid: null })
  return Object.assign(outer, {
    hasPerRequestStream: inner.hasPerRequestStream === true,
    setProtocolVersion: (version: string) => inner.setProtocolVersion?.(version),
  })
}
