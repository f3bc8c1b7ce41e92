import { toCancelled } from '../../core/base/cancelled.ts'
import type { Link } from '../connection/link.ts'

/** The ways to one server that are open; of two only one is ever in use. */
export class PeerLinks {
  readonly #open = new Set<Link>()

  /** Opens the next, when the last is closed; one that came too late for the signal is closed again. */
  async replace(open: () => Promise<Link>, signal: AbortSignal): Promise<Link> {
    await this.close()
    const link = await open()
    this.#open.add(link)
    void link.ended.then(() => link.close()).then(() => this.#open.delete(link))
    if (!signal.aborted) return link
    void link.close()
    throw toCancelled(signal)
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
