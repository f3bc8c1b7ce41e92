import type { HttpVariant, ServerConnectOptions } from '../connection/connect.ts'
import type { Era } from '../connection/connection.ts'
import type { ServerTarget } from '../fingerprint.ts'
import type { PeerMemory } from './peer-memory.ts'

type Plan = Pick<ServerConnectOptions, 'era' | 'onMute' | 'way' | 'otherWay' | 'onWay' | 'questionMs'>

/** Chooses the era and transport for a server: from its target, from memory, or from the last attempt. */
export class TransportMemory {
  readonly #target: ServerTarget
  #current: HttpVariant = 'usual'
  /**
   * The era assumed after it ended without a message, so that each start of a broken server runs it only
   * once.
   */
  #supposed: Era | undefined

  constructor(target: ServerTarget) {
    this.#target = target
  }

  /** The transport that was used last. */
  get current(): HttpVariant {
    return this.#current
  }

  /**
   * Plans the next start. A server gets half of its startup time to answer the probe, since old ones may not
   * answer at all.
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
