import type { Peer } from './peer.ts'

/** A server without declarations that turns under way still hold. */
interface DrainingPeer {
  peer: Peer
  gone: Promise<void>
}

/** The servers that are being shut down: those that turns under way still hold, and those that are ending. */
export class DrainingPeers {
  /** The last server of each fingerprint that lost its declarations. */
  readonly #waiting = new Map<string, DrainingPeer>()
  /** Resolves, for each fingerprint, when all its ending servers are gone. */
  readonly #leaving = new Map<string, Promise<void>>()

  /** Ends a server when the last turn that holds it is over, unless it is reclaimed before. */
  begin(peer: Peer): void {
    const draining = { peer, gone: Promise.resolve() }
    this.#waiting.set(peer.fingerprint, draining)
    draining.gone = this.#leaveQuietly(draining)
  }

  /** Whether this server has lost its declarations. */
  has(peer: Peer): boolean {
    return this.#waiting.get(peer.fingerprint)?.peer === peer
  }

  /** Returns a draining server that turns still hold. */
  find(fingerprint: string): Peer | undefined {
    const peer = this.#waiting.get(fingerprint)?.peer
    return peer?.quiet ? peer : undefined
  }

  /** Returns a draining server that turns still hold, and stops draining it. */
  reclaim(fingerprint: string): Peer | undefined {
    const peer = this.find(fingerprint)
    if (peer) this.#waiting.delete(fingerprint)
    return peer
  }

  /** Ends a server; the next one with its fingerprint waits for it. */
  async leave(peer: Peer): Promise<void> {
    const { fingerprint } = peer
    const all = Promise.all([this.#leaving.get(fingerprint), peer.end()]).then(() => {
      if (this.#leaving.get(fingerprint) === all) this.#leaving.delete(fingerprint)
    })
    this.#leaving.set(fingerprint, all)
    await all
  }

  /** Resolves when the servers of a fingerprint that are ending now are gone. */
  async whenGone(fingerprint: string): Promise<void> {
    await this.#leaving.get(fingerprint)
  }

  /** Ends all servers, including those that are held. */
  async end(): Promise<void> {
    const waiting = [...this.#waiting.values()].flatMap(({ peer, gone }) => [peer.end(), gone])
    await Promise.all([...waiting, ...this.#leaving.values()])
  }

  /** Like end(), for a process that is exiting: does not wait. */
  release(): void {
    for (const { peer } of this.#waiting.values()) peer.release()
  }

  async #leaveQuietly(draining: DrainingPeer): Promise<void> {
    const { peer } = draining
    const isCurrent = () => this.#waiting.get(peer.fingerprint) === draining
    while (peer.quiet) await peer.quiet
    if (!isCurrent()) return
    await this.leave(peer)
    if (isCurrent()) this.#waiting.delete(peer.fingerprint)
  }
}
