import { basename, sep } from 'node:path'
import { replaceFile } from '../base/files.ts'
import type { JsonObject } from '../base/message.ts'
import { readTextFile } from '../config/load-config.ts'
import { parseToml, type TomlDocument, toFileIssues } from '../config/toml.ts'
import { editToml } from '../config/toml-edit.ts'
import { configError } from '../config/validation-issue.ts'
import { checkTrustFile, type ProjectTrust, type ServerFileTrust, type TrustFile } from './trust-file.ts'

/** The options of a TrustStore. */
export interface TrustStoreOptions {
  /** The path of trust.toml. */
  path: string
  /** Takes an exclusive lease that all processes of the home respect. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
  /** Returns the current time in milliseconds since 1970. */
  now(): number
}

/**
 * The folders whose files the user trusts, does not trust, or was notified about; stored in trust.toml of the
 * home (ADR 0151).
 *
 * Every method throws `config` for an invalid file, and `storage` for disk failures. A change rereads the
 * file under its lease; comments and order stay.
 */
export class TrustStore {
  readonly #options: TrustStoreOptions

  constructor(options: TrustStoreOptions) {
    this.#options = options
  }

  /** Returns all folders, by path. */
  async read(): Promise<ReadonlyMap<string, ProjectTrust>> {
    return await readTrust(this.#options.path)
  }

  /** Sets the state of a folder. Notices already shown stay recorded. */
  async setState(path: string, state: ProjectTrust['state'], signal: AbortSignal): Promise<void> {
    await this.#change(
      path,
      (before) => ({ ...this.#entry(path, state), notices: before?.notices ?? [] }),
      signal,
    )
  }

  /** Records notices that were shown. A new folder becomes `notified`. Only the last 100 are kept. */
  async addNotices(path: string, notices: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#change(
      path,
      (before) => {
        const entry = before ?? this.#entry(path, 'notified')
        return { ...entry, notices: [...new Set([...entry.notices, ...notices])].slice(-MAX_NOTICES) }
      },
      signal,
    )
  }

  /** Removes a folder and the answers about its servers; returns false when it was not there. */
  async remove(path: string, signal: AbortSignal): Promise<boolean> {
    const wasThere = await this.#change(path, () => undefined, signal)
    return (await this.forgetServers(path, signal)) || wasThere
  }

  /** Stores the user's answer about a file of MCP servers in place of the earlier one about that file. */
  async answerServers(answer: Omit<ServerFileTrust, 'since'>, signal: AbortSignal): Promise<void> {
    const row = { ...answer, since: this.#timestamp() }
    await this.#edit((file) => ({ ...file, server_file: replaceEntry(file.server_file, row) }), signal)
  }

  /** Removes the answers about the files of MCP servers below a folder; returns false when there were none. */
  async forgetServers(folder: string, signal: AbortSignal): Promise<boolean> {
    let count = 0
    const isElsewhere = ({ path }: ServerFileTrust) => !path.startsWith(`${folder}${sep}`)
    await this.#edit((file) => {
      const remaining = file.server_file.filter(isElsewhere)
      count = file.server_file.length - remaining.length
      return { ...file, server_file: remaining }
    }, signal)
    return count > 0
  }

  #entry(path: string, state: ProjectTrust['state']): ProjectTrust {
    return { path, state, since: this.#timestamp(), notices: [] }
  }

  #timestamp(): string {
    return new Date(this.#options.now()).toISOString()
  }

  /** Changes one folder under the lease; returns whether it was there before. */
  async #change(
    path: string,
    change: (before: ProjectTrust | undefined) => ProjectTrust | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    let wasThere = false
    await this.#edit((file) => {
      const before = file.project.find((project) => project.path === path)
      wasThere = before !== undefined
      const after = change(before)
      const others = file.project.filter((project) => project.path !== path)
      return {
        ...file,
        project: after === undefined ? others : withinLimit(replaceEntry(file.project, after)),
      }
    }, signal)
    return wasThere
  }

  /** Changes the file under the lease. Rows that stay are written as they were. */
  async #edit(change: (file: TrustFile) => TrustFile, signal: AbortSignal): Promise<void> {
    await using _ = await this.#options.lock(`file:${this.#options.path}`, signal)
    const { document, file } = await load(this.#options.path)
    const { text, table } = document
    const changed = change(file)
    const lists = (['project', 'server_file'] as const).flatMap((key): [string, JsonObject[]][] => {
      const rows = (table[key] ?? []) as JsonObject[]
      const written = new Map<object, JsonObject>(file[key].map((one, at) => [one, rows[at]!]))
      const tables = changed[key].map((one) => written.get(one) ?? { ...one })
      return tables.length === 0 ? [] : [[key, tables]]
    })
    await replaceFile(
      this.#options.path,
      editToml(text === '' ? HEAD : text, table, Object.fromEntries(lists)),
    )
  }
}

/**
 * Reads all folders of a trust.toml, by path; empty when the file does not exist. Throws like the methods of
 * the store.
 */
export async function readTrust(path: string): Promise<ReadonlyMap<string, ProjectTrust>> {
  const { file } = await load(path)
  return new Map(file.project.toReversed().map((project) => [project.path, project]))
}

/** Reads the answers about files of MCP servers, by path. Throws like the methods of the store. */
export async function readServerTrust(path: string): Promise<ReadonlyMap<string, ServerFileTrust>> {
  const { file } = await load(path)
  return new Map(file.server_file.toReversed().map((row) => [row.path, row]))
}

async function load(path: string): Promise<{ document: TomlDocument; file: TrustFile }> {
  const document = parseToml(basename(path), (await readTextFile(path)) ?? '')
  if (!document.ok) throw configError(document.problems)
  const file = checkTrustFile(document.value.table)
  if (!file.ok) throw configError(toFileIssues(document.value, file.problems))
  return { document: document.value, file: file.value }
}

const MAX_NOTICES = 100
const MAX_PROJECTS = 1000
const HEAD = '# Folders whose files agents may use. See `crabtalk trust --help`.\n'

/** Removes the oldest folders over the limit, among those that the user never answered about. */
function withinLimit(projects: readonly ProjectTrust[]): ProjectTrust[] {
  const notified = projects.filter(({ state }) => state === 'notified')
  const excess = Math.max(0, projects.length - MAX_PROJECTS)
  const oldest = new Set(notified.toSorted((a, b) => a.since.localeCompare(b.since)).slice(0, excess))
  return projects.filter((project) => !oldest.has(project))
}

/** Returns the list with one row replaced in its position, or appended. */
function replaceEntry<T extends { path: string }>(rows: readonly T[], after: T): T[] {
  const at = rows.findIndex(({ path }) => path === after.path)
  return at < 0 ? [...rows, after] : rows.with(at, after)
}
