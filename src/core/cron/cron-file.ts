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
import { configError, type FileIssue, formatIssue, type Result } from '../config/validation-issue.ts'
import { type Cron, type CronEntry, DEFAULT_CRON_SENDER, parseCronEntry } from './cron-entry.ts'
import { freeId, MAX_CRONS, readCrons, toTables } from './crons.ts'

/** The location of the entries, and how writers exclude each other. */
interface CronFileOptions {
  /** The path of config/crons.toml. */
  path: string
  /** Acquires a lease that is exclusive among all processes of the home. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
}

/** The entries in effect. */
export interface LoadedCrons {
  crons: readonly Cron[]
  /** The problems in the file, in line order. */
  problems: readonly FileIssue[]
  /** The reason why the entries are from an earlier version of the file: the current one is unreadable. */
  broken: CrabError | undefined
}

/**
 * Reads the entries without the ability to change them; `broken` is set when the file is unreadable. Never
 * throws.
 */
export async function loadCrons(path: string): Promise<LoadedCrons> {
  return await new CronFile({ path, lock: () => Promise.reject(new Error('Only read')) }).read()
}

/** Returns the problems of the file; none when it does not exist. Changes nothing. Throws `storage`. */
export async function findCronProblems(path: string): Promise<readonly FileIssue[]> {
  const document = await readDocument(path)
  return document.ok
    ? toFileIssues(document.value, readCrons(document.value.table).findings)
    : document.problems
}

/** An entry to add; default values are left out of the file. */
type NewCronEntry = Omit<CronEntry, 'id'>

/**
 * The entries of a home, in config/crons.toml. Several processes and people may edit it: a change re-reads
 * the file under its lease and replaces it. Comments, the order and invalid entries are preserved.
 *
 * A change throws `config` for a file that is not valid TOML, and leaves it unchanged; it throws `storage`
 * for the disk.
 */
export class CronFile {
  readonly #options: CronFileOptions
  /** The stamp of the version that was read last; undefined when there was no file. */
  #stamp: string | undefined
  #loaded: LoadedCrons = { crons: [], problems: [], broken: undefined }

  constructor(options: CronFileOptions) {
    this.#options = options
  }

  /**
   * Returns the entries in effect; the same object while nothing changes. Reads the file again only if it
   * changed. Never throws.
   */
  async read(): Promise<LoadedCrons> {
    try {
      const stamp = await readStamp(this.#options.path)
      if (stamp === this.#stamp && !this.#loaded.broken) return this.#loaded
      const document = await this.#load()
      const { crons, findings } = readCrons(document.table)
      // If the file was replaced during the read, the contents are complete but may be newer than the stamp.
      this.#loaded = { crons, problems: toFileIssues(document, findings), broken: undefined }
      this.#stamp = stamp
    } catch (reason) {
      const broken = toStorageError(`Cannot read ${this.#options.path}`, reason)
      if (broken.message !== this.#loaded.broken?.message) this.#loaded = { ...this.#loaded, broken }
    }
    return this.#loaded
  }

  /**
   * Adds an entry with a new id, which is `least` or higher; durable when it resolves. Throws `conflict` at
   * the limit.
   */
  async add(entry: NewCronEntry, least: number, signal: AbortSignal): Promise<CronEntry> {
    return await this.#change(signal, (tables) => {
      if (tables.length >= MAX_CRONS) throw limitError()
      const id = freeId(tables, least)
      return { result: { id, ...entry }, after: [...tables, { id, ...withoutDefaults(entry) }] }
    })
  }

  /**
   * Removes an entry, valid or not; returns whether it existed. With `only`, removes it only if it is
   * unchanged.
   */
  async remove(id: number, signal: AbortSignal, only?: CronEntry): Promise<boolean> {
    return await this.#change(signal, (tables) => {
      const matches = (table: JsonObject) =>
        table['id'] === id && (!only || isDeepStrictEqual(parseCronEntry(table).cron?.entry, only))
      const after = tables.filter((table) => !matches(table))
      return { result: after.length < tables.length, after }
    })
  }

  /** Renames an agent in all entries; returns the number of changed entries. */
  async renameAgent(from: string, to: string, signal: AbortSignal): Promise<number> {
    if ((await readStamp(this.#options.path)) === undefined) return 0
    return await this.#change(signal, (tables) => {
      const matches = ({ agent = DEFAULT_AGENT }: JsonObject) => {
        return typeof agent === 'string' && agent.normalize('NFC') === from
      }
      const after = tables.map((table) => (matches(table) ? { ...table, agent: to } : table))
      return { result: tables.filter(matches).length, after }
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
    const document = await readDocument(this.#options.path)
    if (!document.ok) throw configError(document.problems)
    return document.value
  }
}

async function readDocument(path: string): Promise<Result<TomlDocument>> {
  const file = join(basename(dirname(path)), basename(path)).replaceAll('\\', '/')
  return parseToml(file, (await readTextFile(path)) ?? '')
}

/** Formats the problems of the file for people, one per line: `config/crons.toml:7: …`. */
export function problemLines({ problems, broken }: LoadedCrons): string[] {
  const lines = problems.map(formatIssue)
  return broken ? [`${broken.message}; the previous entries stay in effect`, ...lines] : lines
}

function withoutDefaults({ once, sender, ...entry }: NewCronEntry): JsonObject {
  return { ...entry, ...(sender !== DEFAULT_CRON_SENDER && { sender }), ...(once && { once }) }
}

function limitError(): CrabError {
  return new CrabError('conflict', `Cannot add the entry: there are ${MAX_CRONS}, the limit`, {
    hint: 'remove some with crabtalk cron remove ID',
  })
}
