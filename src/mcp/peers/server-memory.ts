import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { CrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import { Serial } from '../../core/base/serial.ts'
import type { HttpVariant } from '../connection/connect.ts'
import type { Connection, Era } from '../connection/connection.ts'
import type { ServerOffer } from '../secrets/mask.ts'
import { type DroppedTool, readTools, replaceList, type ToolList } from '../tools/remote-tool.ts'
import { recallAbout, type ServerAbout } from '../tools/server-about.ts'
import { toPrintableLine } from '../tools/server-text.ts'

/** The stored record of a server. */
export interface ServerRecord {
  /** Its tools when it was last connected; undefined when it never was. */
  list?: ToolList
  /** Its description of itself at that time. */
  about?: ServerAbout
  /** The era it speaks, and since when that is known; milliseconds since 1970. */
  era?: { is: Era; since: number; way?: HttpVariant }
  /** The failure of the last start; removed by the next one that succeeds. */
  failure?: { at: number; why: string; needsAuth?: boolean }
}

/**
 * The stored records of servers, one file per fingerprint. They hold what servers say of themselves and
 * nothing of their configuration. All files may be deleted at any time.
 */
export class ServerMemory {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Reads a record; it is empty when the file is missing or invalid. */
  async read(fingerprint: string): Promise<ServerRecord> {
    return parseServerRecord(await readFile(this.#path(fingerprint), 'utf8').catch(() => ''))
  }

  /** Reads a record synchronously. */
  readNow(fingerprint: string): ServerRecord {
    try {
      return parseServerRecord(readFileSync(this.#path(fingerprint), 'utf8'))
    } catch {
      return {} // like read(), treats it as unknown
    }
  }

  /** Throws `storage`. */
  async write(fingerprint: string, remembered: ServerRecord): Promise<void> {
    await replaceFile(this.#path(fingerprint), JSON.stringify({ v: VERSION, ...remembered }))
  }

  #path(fingerprint: string): string {
    return join(this.#folder, `${fingerprint}.json`)
  }
}

/** Version 1 had descriptions that were cut. */
const VERSION = 2

/** Parses a file that may be damaged, foreign, or from another version. */
function parseServerRecord(text: string): ServerRecord {
  const { v, list, about, era, failure } = parseObject(text) ?? {}
  if (v !== VERSION) return {}
  const recalled = recallAbout(about)
  return {
    ...(isObject(list) && Array.isArray(list['tools']) && { list: toList(list['tools'], list['dropped']) }),
    ...(recalled && { about: recalled }),
    ...(isObject(era) && toEra(era)),
    ...(isObject(failure) && toFailure(failure)),
  }
}

function toList(tools: readonly unknown[], dropped: unknown): ToolList {
  const known = Array.isArray(dropped) ? dropped.filter(isDropped) : []
  return { tools: readTools(tools).tools, dropped: known }
}

function isDropped(value: unknown): value is DroppedTool {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['why'] === 'string'
}

function toEra({ is, since, way }: Record<string, unknown>): Pick<ServerRecord, 'era'> {
  const isEra = is === 'legacy' || is === 'modern'
  return isEra && typeof since === 'number' ? { era: { is, since, ...(way === 'sse' && { way }) } } : {}
}

function toFailure({ at, why, needsAuth }: Record<string, unknown>): Pick<ServerRecord, 'failure'> {
  if (typeof at !== 'number' || typeof why !== 'string') return {}
  return { failure: { at, why: toPrintableLine(why), ...(needsAuth === true && { needsAuth }) } }
}

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

  /** The remembered transport; `streamable` by default. */
  get variant(): HttpVariant {
    return this.era === undefined ? 'streamable' : (this.#known.era?.way ?? 'streamable')
  }

  /** The last start, by any process, if it failed. */
  get failure(): ServerRecord['failure'] {
    return this.#known.failure
  }

  /** Stores the offer of a connected server. Returns whether the tools that agents get have changed. */
  connected({ list, about }: ServerOffer, { era }: Pick<Connection, 'era'>, variant = this.variant): boolean {
    const before = this.#known
    const known = this.era === era && this.variant === variant ? before.era : undefined
    const since = this.#options.now()
    const spoken = known ?? { is: era, since, ...(variant !== 'streamable' && { way: variant }) }
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
