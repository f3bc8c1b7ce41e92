import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { CrabError } from '../base/errors.ts'
import { readStamp } from '../base/file-stamp.ts'
import { replaceFile, toStorageError } from '../base/files.ts'
import type { JsonObject } from '../base/message.ts'
import { DEFAULT_AGENT } from '../config/default-name.ts'
import { readTextFile } from '../config/load-config.ts'
import { parseToml, type TomlDocument, toFileIssues } from '../config/toml.ts'
import { editToml } from '../config/toml-edit.ts'
import { configError, type FileIssue } from '../config/validation-issue.ts'
import { type Cron, type CronEntry, DEFAULT_CRON_SENDER, parseCronEntry } from './cron-entry.ts'
import { freeId, MAX_CRONS, readCrons, toTables } from './crons.ts'

export interface CronFileOptions {
  /** Of config/crons.toml. */
  path: string
  /** Takes an exclusive right among all processes of the home. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
}

/** The entries that hold now. */
export interface LoadedCrons {
  crons: readonly Cron[]
  /** What is wrong with the file, in the order of its lines. */
  problems: readonly FileIssue[]
  /** Why these are not those of the file: it cannot be read, and the ones from before hold. */
  broken: CrabError | undefined
}

/** What stands in that file, for who only looks; `broken` where it cannot be read. Never fails. */
export async function loadCrons(path: string): Promise<LoadedCrons> {
  return await new CronFile({ path, lock: () => Promise.reject(new Error('Only read')) }).read()
}

/** An entry that is to be written; what holds anyway is left out of the file. */
export type NewCronEntry = Omit<CronEntry, 'id'>

/**
 * The entries of a home, in config/crons.toml. Several processes and people may write it: a change reads it anew under the
 * lease of the file, and replaces it; comments, order and entries that are none stay.
 *
 * A change fails with `config` for a file that is no TOML, and leaves that as it is; with `storage` for the disk.
 */
export class CronFile {
  readonly #options: CronFileOptions
  /** Of what was read last; undefined: there was no file. */
  #stamp: string | undefined
  #loaded: LoadedCrons = { crons: [], problems: [], broken: undefined }

  constructor(options: CronFileOptions) {
    this.#options = options
  }

  /** Those that hold now, the same object as long as nothing is another; the file is read again only if it is another one. Never fails. */
  async read(): Promise<LoadedCrons> {
    try {
      const stamp = await readStamp(this.#options.path)
      if (stamp === this.#stamp && !this.#loaded.broken) return this.#loaded
      const document = await this.#load()
      const { crons, findings } = readCrons(document.table)
      // Written while it was read: what was read is whole, but may be younger than its stamp.
      this.#loaded = { crons, problems: toFileIssues(document, findings), broken: undefined }
      this.#stamp = stamp
    } catch (reason) {
      const broken = toStorageError(`Cannot read ${this.#options.path}`, reason)
      if (broken.message !== this.#loaded.broken?.message) this.#loaded = { ...this.#loaded, broken }
    }
    return this.#loaded
  }

  /** Adds an entry; durable, with its id, when it resolves. The id is `least` or above. Throws `conflict` at the limit. */
  async add(entry: NewCronEntry, least: number, signal: AbortSignal): Promise<CronEntry> {
    return await this.#change(signal, (tables) => {
      if (tables.length >= MAX_CRONS) throw full()
      const id = freeId(tables, least)
      return { result: { id, ...entry }, after: [...tables, { id, ...withoutDefaults(entry) }] }
    })
  }

  /** Removes an entry, also one that is wrong; whether it was there. With `only`, unless it is another one by now. */
  async remove(id: number, signal: AbortSignal, only?: CronEntry): Promise<boolean> {
    return await this.#change(signal, (tables) => {
      const isMeant = (table: JsonObject) =>
        table['id'] === id && (!only || isDeepStrictEqual(parseCronEntry(table).cron?.entry, only))
      const after = tables.filter((table) => !isMeant(table))
      return { result: after.length < tables.length, after }
    })
  }

  /** Follows an agent to its new name; gives how many entries were rewritten. */
  async renameAgent(from: string, to: string, signal: AbortSignal): Promise<number> {
    if ((await readStamp(this.#options.path)) === undefined) return 0
    return await this.#change(signal, (tables) => {
      const isMeant = ({ agent = DEFAULT_AGENT }: JsonObject) => {
        return typeof agent === 'string' && agent.normalize('NFC') === from
      }
      const after = tables.map((table) => (isMeant(table) ? { ...table, agent: to } : table))
      return { result: tables.filter(isMeant).length, after }
    })
  }

  async #change<T>(
    signal: AbortSignal,
    change: (tables: JsonObject[]) => { result: T; after: JsonObject[] },
  ): Promise<T> {
    const { path, lock } = this.#options
    await using _ = await lock(`file:${path}`, signal)
    const { text, table, file } = await this.#load()
    const { cron: list = [], ...others } = table
    const tables = toTables(list)
    if (!tables)
      throw new CrabError('config', `${file}: "cron" must be tables`, { hint: 'begin each with [[cron]]' })
    const { result, after } = change(tables)
    const isSame = after.length === tables.length && after.every((one, index) => one === tables[index])
    if (!isSame) {
      const cron = after.length > 0 ? { cron: after } : {}
      await replaceFile(path, editToml(text, table, { ...others, ...cron }))
    }
    return result
  }

  async #load(): Promise<TomlDocument> {
    const { path } = this.#options
    const file = join(basename(dirname(path)), basename(path)).replaceAll('\\', '/')
    const document = parseToml(file, (await readTextFile(path)) ?? '')
    if (!document.ok) throw configError(document.problems)
    return document.value
  }
}

function withoutDefaults({ once, sender, ...entry }: NewCronEntry): JsonObject {
  return { ...entry, ...(sender !== DEFAULT_CRON_SENDER && { sender }), ...(once && { once }) }
}

function full(): CrabError {
  return new CrabError('conflict', `Cannot add the entry: there are ${MAX_CRONS}, the limit`, {
    hint: 'remove some with crabtalk cron remove ID',
  })
}
