import type { Transport } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'

/**
 * A link to one server and the process or endpoint behind it. Only the SDK sends over `transport`.
 *
 * The opener closes or releases it.
 */
export interface ServerLink {
  readonly transport: Transport
  readonly pid: number | undefined
  /** Whether any message has arrived from the server. */
  readonly hasSpoken: boolean
  /** The HTTP status with which the server refused the transport that was tried. */
  readonly refusedWith?: number | undefined
  /** The secrets that a helper has supplied meanwhile. They must not be shown. */
  readonly secrets?: readonly string[]
  /**
   * Resolves with the reason when the server can no longer be reached: `it ended with exit code 1: …`. Never
   * rejects.
   */
  readonly ended: Promise<string>
  /** The hint for the error about its end; undefined when there is none. */
  readonly hint?: string | undefined
  /** Closes the session, waits briefly and ends everything that is left. Idempotent; never rejects. */
  close(): Promise<void>
  /** Like close(), for a process that is exiting: returns immediately and keeps nothing alive. */
  release(): void
}

/** Resolves with `unavailable` and the reason when the server can no longer be reached. */
export async function whenEnded(link: ServerLink): Promise<CrabError> {
  const why = await link.ended
  const { hint } = link
  return new CrabError('unavailable', why, hint === undefined ? {} : { hint })
}

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
