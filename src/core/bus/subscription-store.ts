import { basename, dirname, join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { readStamp } from '../base/file-stamp.ts'
import { replaceFile, toStorageError } from '../base/files.ts'
import type { JsonObject } from '../base/message.ts'
import { readTextFile } from '../config/load-config.ts'
import { parseToml, type TomlDocument, toFileIssues } from '../config/toml.ts'
import { editToml } from '../config/toml-edit.ts'
import { configError } from '../config/validation-issue.ts'
import {
  checkSubscriptions,
  MAX_SUBSCRIPTIONS,
  type Subscription,
  type Subscriptions,
  sourceProblem,
} from './subscriptions.ts'

/** The dependencies of a subscription store. */
export interface SubscriptionStoreOptions {
  /** The path of events/subscriptions.toml. */
  path: string
  /** Takes a lock that is exclusive among all processes of the home. */
  lock(resource: string, signal: AbortSignal): Promise<AsyncDisposable>
}

/** The subscriptions in effect. */
export interface LoadedSubscriptions {
  subscriptions: readonly Subscription[]
  /** The problem that makes the file unusable; the subscriptions are then those of the last successful read. */
  problem: CrabError | undefined
}

/** The contents of a valid file. */
interface Content {
  document: TomlDocument
  table: Subscriptions
}

/**
 * The subscriptions of a home, in events/subscriptions.toml. Several processes and people may write the file:
 * a change rereads it under the file's lease and replaces it, keeping comments and order.
 *
 * A change fails with `config` for an invalid file, which stays unchanged, and with `storage` when the disk
 * fails.
 */
export class SubscriptionStore {
  readonly #options: SubscriptionStoreOptions
  /** The stamp of the file that was read last; undefined when there was no file. */
  #stamp: string | undefined
  #loaded: LoadedSubscriptions = { subscriptions: [], problem: undefined }

  constructor(options: SubscriptionStoreOptions) {
    this.#options = options
  }

  /** Returns the subscriptions in effect; rereads the file only when it changed. Never fails. */
  async read(): Promise<LoadedSubscriptions> {
    try {
      const stamp = await readStamp(this.#options.path)
      if (stamp === this.#stamp && !this.#loaded.problem) return this.#loaded
      const { table } = await this.#load()
      // The file may be written during the read: the contents are complete, but may be newer than the stamp.
      this.#loaded = { subscriptions: table.subscription, problem: undefined }
      this.#stamp = stamp
    } catch (reason) {
      const problem = toStorageError(`Cannot read ${this.#options.path}`, reason)
      if (problem.message !== this.#loaded.problem?.message) this.#loaded = { ...this.#loaded, problem }
    }
    return this.#loaded
  }

  /**
   * Adds a subscription, or returns the existing identical one. It is durable and has its id when this
   * resolves. Throws `invalid` for an invalid source, `conflict` at the limit.
   */
  async add(candidate: Omit<Subscription, 'id'>, signal: AbortSignal): Promise<Subscription> {
    const wrong = sourceProblem(candidate.source)
    if (wrong !== undefined) throw new CrabError('invalid', `Cannot subscribe: ${wrong}`)
    return await this.#change(signal, (table) => {
      const same = table.subscription.find((one) => isSame(one, candidate))
      if (same) return { result: same, after: table }
      if (table.subscription.length >= MAX_SUBSCRIPTIONS) throw full()
      const id = findNextId(table)
      const added = { id, ...candidate }
      return { result: added, after: { next_id: id + 1, subscription: [...table.subscription, added] } }
    })
  }

  /**
   * Removes the subscriptions with these ids, and returns the ids that it removed: each id is returned to one
   * caller only.
   */
  async remove(ids: readonly number[], signal: AbortSignal): Promise<readonly number[]> {
    return await this.#change(signal, (table) => {
      const { subscription } = table
      const left = subscription.filter(({ id }) => !ids.includes(id))
      const result = subscription.filter(({ id }) => ids.includes(id)).map(({ id }) => id)
      return result.length === 0
        ? { result, after: table }
        : { result, after: { next_id: findNextId(table), subscription: left } }
    })
  }

  /**
   * Renames an agent in targets and in `agent:<name>:<end>` sources; returns the number of subscriptions it
   * changed.
   */
  async renameAgent(from: string, to: string, signal: AbortSignal): Promise<number> {
    if ((await readStamp(this.#options.path)) === undefined) return 0
    const sources = new Map(ENDS.map((end) => [`agent:${from}:${end}`, `agent:${to}:${end}`]))
    return await this.#change(signal, (table) => {
      const isAffected = ({ source, target_agent }: Subscription) =>
        target_agent === from || sources.has(source)
      const subscription = table.subscription.map((one) => ({
        ...one,
        source: sources.get(one.source) ?? one.source,
        target_agent: one.target_agent === from ? to : one.target_agent,
      }))
      const result = table.subscription.filter(isAffected).length
      return { result, after: result === 0 ? table : { ...table, subscription } }
    })
  }

  async #change<T>(
    signal: AbortSignal,
    change: (table: Subscriptions) => { result: T; after: Subscriptions },
  ): Promise<T> {
    const { path, lock } = this.#options
    await using _ = await lock(`file:${path}`, signal)
    const { document, table } = await this.#load()
    const { result, after } = change(table)
    if (after === table) return result
    await replaceFile(path, editToml(document.text, document.table, toFile(after, document.table)))
    return result
  }

  async #load(): Promise<Content> {
    const { path } = this.#options
    const file = join(basename(dirname(path)), basename(path)).replaceAll('\\', '/')
    const document = parseToml(file, (await readTextFile(path)) ?? '')
    if (!document.ok) throw configError(document.problems)
    const table = checkSubscriptions(document.value.table)
    if (!table.ok) throw configError(toFileIssues(document.value, table.problems))
    return { document: document.value, table: table.value }
  }
}

/** The ways a turn ends, in `agent:<name>:<end>`. */
const ENDS = ['done', 'failed'] as const

function isSame(one: Subscription, { source, target_agent, once }: Omit<Subscription, 'id'>): boolean {
  return one.source === source && one.target_agent === target_agent && one.once === once
}

function findNextId({ next_id = 1, subscription }: Subscriptions): number {
  return subscription.reduce((next, { id }) => Math.max(next, id + 1), next_id)
}

/** Builds the new contents of the file; a subscription that stays keeps its formatting and extra keys. */
function toFile(
  { next_id, subscription }: Subscriptions,
  { subscription: before = [] }: JsonObject,
): JsonObject {
  const forms = new Map((before as JsonObject[]).map((form) => [form['id'], form]))
  const list = subscription.map((one) => {
    const { source, target_agent } = one
    const form = forms.get(one.id)
    return form ? { ...form, source, target_agent } : one
  })
  return { ...(next_id !== undefined && { next_id }), ...(list.length > 0 && { subscription: list }) }
}

function full(): CrabError {
  return new CrabError(
    'conflict',
    `Cannot subscribe: there are ${MAX_SUBSCRIPTIONS} subscriptions, the limit`,
    {
      hint: 'remove some with crabtalk events unsubscribe ID',
    },
  )
}
