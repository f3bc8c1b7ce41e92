import { toCancelledError } from '../../core/base/abortable.ts'
import type { ServerLink } from '../connection/link.ts'

/** The ways to one server that are open; of two only one is ever in use. */
export class PeerLinks {
  readonly #open = new Set<ServerLink>()

  /** Opens the next, when the last is closed; one that came too late for the signal is closed again. */
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

  /** As close(), for a host that is leaving: nobody waits. */
  release(): void {
    for (const link of this.#open) link.release()
  }
}
