import type { Peer } from './peer.ts'

/** A server that nobody declares any more. */
interface DrainingPeer {
  peer: Peer
  gone: Promise<void>
}

/** Servers on their way out: those that only turns under way still hold, and those that are being ended. */
export class DrainingPeers {
  /** By fingerprint: the last of each kind that nobody declares. */
  readonly #waiting = new Map<string, DrainingPeer>()
  /** By fingerprint: until all of that kind that are being ended are gone. */
  readonly #leaving = new Map<string, Promise<void>>()

  /** Turns that are under way keep what they began with: the last one ends the server, unless it is taken back. */
  begin(peer: Peer): void {
    const departure = { peer, gone: Promise.resolve() }
    this.#waiting.set(peer.fingerprint, departure)
    departure.gone = this.#leaveQuietly(departure)
  }

  /** Whether nobody declares it any more. */
  has(peer: Peer): boolean {
    return this.#waiting.get(peer.fingerprint)?.peer === peer
  }

  /** One that turns still hold. */
  held(fingerprint: string): Peer | undefined {
    const peer = this.#waiting.get(fingerprint)?.peer
    return peer?.quiet ? peer : undefined
  }

  /** The same, which is not on its way out any more. */
  reclaim(fingerprint: string): Peer | undefined {
    const peer = this.held(fingerprint)
    if (peer) this.#waiting.delete(fingerprint)
    return peer
  }

  /** Ends one; the next of that kind waits for it. */
  async leave(peer: Peer): Promise<void> {
    const { fingerprint } = peer
    const all = Promise.all([this.#leaving.get(fingerprint), peer.end()]).then(() => {
      if (this.#leaving.get(fingerprint) === all) this.#leaving.delete(fingerprint)
    })
    this.#leaving.set(fingerprint, all)
    await all
  }

  /** Resolves when all of a kind that are being ended now are gone. */
  async gone(fingerprint: string): Promise<void> {
    await this.#leaving.get(fingerprint)
  }

  /** Ends all, held or not. */
  async end(): Promise<void> {
    const waiting = [...this.#waiting.values()].flatMap(({ peer, gone }) => [peer.end(), gone])
    await Promise.all([...waiting, ...this.#leaving.values()])
  }

  /** As end(), for a host that is leaving: nobody waits. */
  release(): void {
    for (const { peer } of this.#waiting.values()) peer.release()
  }

  async #leaveQuietly(departure: DrainingPeer): Promise<void> {
    const { peer } = departure
    const isWanted = () => this.#waiting.get(peer.fingerprint) === departure
    while (peer.quiet) await peer.quiet
    if (!isWanted()) return
    await this.leave(peer)
    if (isWanted()) this.#waiting.delete(peer.fingerprint)
  }
}
