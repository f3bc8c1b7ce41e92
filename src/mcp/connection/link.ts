import type { Transport } from '@modelcontextprotocol/client'
import { CrabError } from '../../core/base/errors.ts'

/**
 * A way to one server, and what stands behind it. The SDK speaks over `transport`; nobody else does.
 *
 * Whoever opened it closes or releases it.
 */
export interface ServerLink {
  readonly transport: Transport
  readonly pid: number | undefined
  /** Whether anything came from the server yet. */
  readonly hasSpoken: boolean
  /** The status of HTTP it refused to be spoken to with, by its address, in the way that was tried. */
  readonly refusedWith?: number | undefined
  /** What it was given meanwhile by a helper, and nobody may see. */
  readonly secrets?: readonly string[]
  /** Resolves when the server can no longer be reached, with why: `it ended with exit code 1: …`. Never rejects. */
  readonly ended: Promise<string>
  /** What to do about its end; undefined as long as there is nothing to say. */
  readonly hint?: string | undefined
  /** Says good-bye, waits a little and ends whatever is left. Any number of times; never rejects. */
  close(): Promise<void>
  /** As close(), for a host that is leaving: nobody waits, and nothing keeps this process alive. */
  release(): void
}

/** Resolves when the server can no longer be reached, with why. */
export async function whenEnded(link: ServerLink): Promise<CrabError> {
  const why = await link.ended
  const { hint } = link
  return new CrabError('unavailable', why, hint === undefined ? {} : { hint })
}
