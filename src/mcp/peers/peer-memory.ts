import { isDeepStrictEqual } from 'node:util'
import type { CrabError } from '../../core/base/errors.ts'
import { Serial } from '../../core/base/serial.ts'
import type { HttpVariant } from '../connection/connect.ts'
import type { Connection, Era } from '../connection/connection.ts'
import type { ServerOffer } from '../secrets/masked-offer.ts'
import { type DroppedTool, replaceList, type ToolList } from '../tools/remote-tool.ts'
import type { ServerAbout } from './server-about.ts'
import type { ServerMemory, ServerRecord } from './server-memory.ts'

export interface PeerMemoryOptions {
  fingerprint: string
  memory: ServerMemory
  remembered: ServerRecord
  /** Milliseconds since 1970. */
  now(): number
}

/** The record of one server, available while it is not running; changes are written to disk. */
export class PeerMemory {
  readonly #options: PeerMemoryOptions
  #known: ServerRecord
  readonly #writes = new Serial()

  constructor(options: PeerMemoryOptions) {
    this.#options = options
    this.#known = options.remembered
  }

  /** The tools it has, or had when it was last connected; undefined when it never was. */
  get list(): ToolList | undefined {
    return this.#known.list
  }

  /** The server's description of itself from the last connection; undefined when there was none. */
  get about(): ServerAbout | undefined {
    return this.#known.about
  }

  /** The tools that cannot be offered; empty when an earlier process already knew them. */
  get newlyDropped(): readonly DroppedTool[] {
    const { dropped = [] } = this.list ?? {}
    return dropped === this.#options.remembered.list?.dropped ? [] : dropped
  }

  /** The era it speaks; undefined after a week, since servers get updated. */
  get era(): Era | undefined {
    const { is, since = 0 } = this.#known.era ?? {}
    return Math.abs(this.#options.now() - since) < ERA_HOLDS_MS ? is : undefined
  }

  /** The remembered transport; `usual` by default. */
  get way(): HttpVariant {
    return this.era === undefined ? 'usual' : (this.#known.era?.way ?? 'usual')
  }

  /** The last start, by any process, if it failed. */
  get failure(): ServerRecord['failure'] {
    return this.#known.failure
  }

  /** Stores the offer of a connected server. Returns whether the tools that agents get have changed. */
  connected({ list, about }: ServerOffer, { era }: Pick<Connection, 'era'>, way = this.way): boolean {
    const before = this.#known
    const known = this.era === era && this.way === way ? before.era : undefined
    const since = this.#options.now()
    const spoken = known ?? { is: era, since, ...(way !== 'usual' && { way }) }
    this.#keep({ list: replaceList(before.list, list), about, era: spoken })
    return this.list !== before.list || about.hasResources !== (before.about?.hasResources ?? false)
  }

  /** Stores a failed start and forgets the era, so that the next start probes again. */
  failed({ message: why, kind }: CrabError): void {
    const { list, about } = this.#known
    const failure = { at: this.#options.now(), why, ...(kind === 'credentials' && { needsAuth: true }) }
    this.#keep({ ...(list && { list }), ...(about && { about }), failure })
  }

  /** Resolves when all changes are written. Never rejects. */
  async settled(): Promise<void> {
    await this.#writes.settled()
  }

  #keep(known: ServerRecord): void {
    if (isDeepStrictEqual(known, this.#known)) return
    this.#known = known
    const { memory, fingerprint } = this.#options
    // A failed write only makes the next process wait for the server.
    this.#writes.run(() => memory.write(fingerprint, known)).catch(() => undefined)
  }
}

const ERA_HOLDS_MS = 7 * 24 * 3_600_000
