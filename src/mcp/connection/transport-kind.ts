import type { Transport } from '@modelcontextprotocol/client'

/** A transport around another one, with all by which the SDK tells a local program from an address, and asks of it. */
export function sameKind(inner: Transport, outer: Transport): Transport {
  if ('stderr' in inner) return Object.assign(outer, { stderr: null, pid: null })
  return Object.assign(outer, {
    hasPerRequestStream: inner.hasPerRequestStream === true,
    setProtocolVersion: (version: string) => inner.setProtocolVersion?.(version),
  })
}
