import type { Peer } from './peer.ts'

/** A server without claims that turns or verifications under way still hold. */
interface DrainingPeer {
  peer: Peer
  stopped: Promise<void>
}

/** The servers that are being shut down: those that are still held, and those that are ending. */
export class DrainingPeers {
  /** The last server of each fingerprint that lost its declarations. */
  readonly #draining = new Map<string, DrainingPeer>()
  /** Resolves, for each fingerprint, when all its ending servers are gone. */
  readonly #stopping = new Map<string, Promise<void>>()

  /** Ends a server when the last hold on it is disposed, unless it is reclaimed before. */
  begin(peer: Peer): void {
    const draining = { peer, stopped: Promise.resolve() }
    this.#draining.set(peer.fingerprint, draining)
    draining.stopped = this.#stopWhenDrained(draining)
  }

  /** Whether this server has lost its declarations. */
  has(peer: Peer): boolean {
    return this.#draining.get(peer.fingerprint)?.peer === peer
  }

  /** Returns a draining server that is still held. */
  find(fingerprint: string): Peer | undefined {
    const peer = this.#draining.get(fingerprint)?.peer
    return peer?.drained ? peer : undefined
  }

  /** Returns a draining server that is still held, and stops draining it. */
  reclaim(fingerprint: string): Peer | undefined {
    const peer = this.find(fingerprint)
    if (peer) this.#draining.delete(fingerprint)
    return peer
  }

  /** Ends a server; the next one with its fingerprint waits for it. */
  async stop(peer: Peer): Promise<void> {
    const { fingerprint } = peer
    const all = Promise.all([this.#stopping.get(fingerprint), peer.end()]).then(() => {
      if (this.#stopping.get(fingerprint) === all) this.#stopping.delete(fingerprint)
    })
    this.#stopping.set(fingerprint, all)
    await all
  }

  /** Resolves when the servers of a fingerprint that are ending now are gone. */
  async whenStopped(fingerprint: string): Promise<void> {
    await this.#stopping.get(fingerprint)
  }

  /** Ends all servers, including those that are held. */
  async end(): Promise<void> {
    const draining = [...this.#draining.values()].flatMap(({ peer, stopped }) => [peer.end(), stopped])
    await Promise.all([...draining, ...this.#stopping.values()])
  }

  /** Like end(), for a process that is exiting: does not wait. */
  release(): void {
    for (const { peer } of this.#draining.values()) peer.release()
  }

  async #stopWhenDrained(draining: DrainingPeer): Promise<void> {
    const { peer } = draining
    const isCurrent = () => this.#draining.get(peer.fingerprint) === draining
    while (peer.drained) await peer.drained
    if (!isCurrent()) return
    await this.stop(peer)
    if (isCurrent()) this.#draining.delete(peer.fingerprint)
  }
}
