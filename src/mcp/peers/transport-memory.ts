import type { HttpVariant, ServerConnectOptions } from '../connection/connect.ts'
import type { Era } from '../connection/connection.ts'
import type { ServerTarget } from '../fingerprint.ts'
import type { PeerMemory } from './peer-memory.ts'

type Plan = Pick<ServerConnectOptions, 'era' | 'onMute' | 'way' | 'otherWay' | 'onWay' | 'questionMs'>

/** How a server is spoken to: as its target says, as it is remembered, or as it showed itself last. */
export class TransportMemory {
  readonly #target: ServerTarget
  #current: HttpVariant = 'usual'
  /** What it is taken for after it ended without a word, so that one that cannot start is started once each time. */
  #supposed: Era | undefined

  constructor(target: ServerTarget) {
    this.#target = target
  }

  /** The one that was taken last. */
  get current(): HttpVariant {
    return this.#current
  }

  /**
   * What the next start tries. A server has half of its time to say what it speaks, as old ones may not answer at all.
   */
  plan({ era, way }: Pick<PeerMemory, 'era' | 'way'>, startupMs: number): Plan {
    const { transport } = this.#target
    this.#current = transport === 'sse' ? 'sse' : way
    const onMute = () => {
      this.#supposed = 'legacy'
    }
    const spoken = { era: era ?? this.#supposed, onMute, questionMs: startupMs / 2 }
    if (transport === 'stdio') return spoken
    const onWay = (found: HttpVariant) => {
      this.#current = found
    }
    const otherWay: HttpVariant = this.#current === 'sse' ? 'usual' : 'sse'
    const tried = { way: this.#current, ...(transport === 'http' && { otherWay }), onWay }
    return { ...spoken, ...tried }
  }
}
