import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../core/base/files.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import type { HttpVariant } from '../connection/connect.ts'
import type { Era } from '../connection/connection.ts'
import { type DroppedTool, readTools, type ToolList, toPrintableLine } from '../tools/remote-tool.ts'
import { recallAbout, type ServerAbout } from './server-about.ts'

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

const VERSION = 1

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
