import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../core/base/files.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import type { HttpVariant } from '../connection/connect.ts'
import type { Era } from '../connection/connection.ts'
import { type DroppedTool, readTools, type ToolList, toPrintableLine } from '../tools/remote-tool.ts'
import { recallAbout, type ServerAbout } from './server-about.ts'

/** What is known of a server from earlier. */
export interface ServerRecord {
  /** Its tools when it was last connected; undefined when it never was. */
  list?: ToolList
  /** What it said of itself then. */
  about?: ServerAbout
  /** What it speaks, and since when that is known; milliseconds since 1970. */
  era?: { is: Era; since: number; way?: HttpVariant }
  /** The last start failed; gone with the next that succeeds. */
  failure?: { at: number; why: string; needsAuth?: boolean }
}

/**
 * What servers were like when they last ran, a file each under its fingerprint. It holds what servers say of
 * themselves and nothing of their configuration. All of it can be deleted.
 */
export class ServerMemory {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Nothing when there is no file, or it makes no sense. */
  async read(fingerprint: string): Promise<ServerRecord> {
    return parseServerRecord(await readFile(this.#path(fingerprint), 'utf8').catch(() => ''))
  }

  /** As read(), for those who cannot wait. */
  readNow(fingerprint: string): ServerRecord {
    try {
      return parseServerRecord(readFileSync(this.#path(fingerprint), 'utf8'))
    } catch {
      return {} // as for read(): it is not known, then
    }
  }

  /** Fails with `storage`. */
  async write(fingerprint: string, remembered: ServerRecord): Promise<void> {
    await replaceFile(this.#path(fingerprint), JSON.stringify({ v: VERSION, ...remembered }))
  }

  #path(fingerprint: string): string {
    return join(this.#folder, `${fingerprint}.json`)
  }
}

const VERSION = 1

/** The file may be anybody's, and of another version. */
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
