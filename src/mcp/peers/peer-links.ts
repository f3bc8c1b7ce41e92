import { toCancelledError } from '../../core/base/abortable.ts'
import type { ServerLink } from '../connection/link.ts'

/** The open links to one server, of which only one is ever in use. */
export class PeerLinks {
  readonly #open = new Set<ServerLink>()

  /** Opens a new link after closing the previous one; closes it again if the signal was aborted meanwhile. */
  async replace(open: () => Promise<ServerLink>, signal: AbortSignal): Promise<ServerLink> {
    await this.close()
    const link = await open()
    this.#open.add(link)
    void link.ended.then(() => link.close()).then(() => this.#open.delete(link))
    if (!signal.aborted) return link
    void link.close()
    throw toCancelledError(signal)
  }

  /** Closes all. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((link) => link.close()))
  }

  /** Like close(), for a process that is exiting: does not wait. */
  release(): void {
    for (const link of this.#open) link.release()
  }
}
