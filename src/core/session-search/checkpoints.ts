import { existsSync } from 'node:fs'
import { toCrabError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Lease, Leases } from '../lease/types.ts'
import type { CheckpointLocation, CheckpointPart, PartToSave } from '../search/checkpoint/types.ts'
import type { IndexParts } from '../search/parts.ts'
import { TextIndex, type TextIndexOptions } from '../search/text-index.ts'
import type { IndexBackground } from './background/types.ts'
import { SessionTable } from './session-table.ts'

/** The dependencies of the checkpoints of an index. */
export interface CheckpointsOptions {
  location: CheckpointLocation
  leases: Leases
  background: IndexBackground
  log: Log
}

/** The lease whose holder may write checkpoints (ADR 0125). */
const INDEX_LEASE = 'index'
/** The time to wait for the lease: short, because its current holder writes the checkpoints. */
const LEASE_MS = 200

/** The saved states of an index. An unusable one is logged and does not cause a failure. */
export class Checkpoints implements AsyncDisposable {
  readonly #options: CheckpointsOptions
  /** The files of the parts that are saved and unchanged. */
  readonly #files = new WeakMap<CheckpointPart, string>()
  #lease: Lease | undefined

  constructor(options: CheckpointsOptions) {
    this.#options = options
  }

  /** Loads the newest checkpoint; returns undefined when none is usable. */
  async load(
    textOptions: TextIndexOptions,
    signal: AbortSignal,
  ): Promise<{ text: TextIndex; table: SessionTable } | undefined> {
    const { background, location, log } = this.#options
    if (!existsSync(location.folder)) return undefined // not worth starting a thread
    const saved = await background.load(location, signal)
    if (!saved) return undefined
    try {
      const [dictionary, state, sessions] = ['dictionary', 'state', 'sessions'].map(
        (role) => saved.find((one) => one.role === role)?.part,
      )
      if (!dictionary || !state || !sessions) throw new Error('a part is missing')
      const segments = saved.filter(({ role }) => role === 'segment')
      const text = TextIndex.restore(
        { dictionary, state, segments: segments.map(({ part }) => part) },
        textOptions,
      )
      for (const { part, file } of segments) this.#files.set(part, file)
      return { text, table: SessionTable.fromPart(sessions) }
    } catch (reason) {
      log('warn', `the search index is being rebuilt: ${toCrabError(reason).message}`)
      return undefined
    }
  }

  /** Tries to acquire the lease for saving; returns whether it is held. */
  async mayWrite(signal: AbortSignal): Promise<boolean> {
    const soon = AbortSignal.any([signal, AbortSignal.timeout(LEASE_MS)])
    this.#lease ??= await this.#options.leases.take(INDEX_LEASE, soon).catch(() => undefined)
    return this.#lease !== undefined
  }

  /** Saves a state as a new generation. Requires the lease; throws what IndexBackground.save() throws. */
  async save(
    { table, dictionary, segments, state }: IndexParts & { table: CheckpointPart },
    signal: AbortSignal,
  ): Promise<void> {
    const { background, location } = this.#options
    const parts: PartToSave[] = [
      { role: 'sessions', part: table },
      { role: 'dictionary', part: dictionary },
      { role: 'state', part: state },
      ...segments.map((part) => this.#segmentToSave(part)),
    ]
    const files = await background.save(location, parts, signal)
    for (const [at, part] of segments.entries()) this.#files.set(part, files[at + BEFORE_SEGMENTS]!)
  }

  /** Releases the lease. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lease?.[Symbol.asyncDispose]()
    this.#lease = undefined
  }

  #segmentToSave(part: CheckpointPart): PartToSave {
    const file = this.#files.get(part)
    return { role: 'segment', part, ...(file !== undefined && { file }) }
  }
}

const BEFORE_SEGMENTS = 3
