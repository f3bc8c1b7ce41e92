import { droppedMessages, hasRewrite } from '../storage/effective-lines.ts'
import type { ReadPosition, SessionLine, Storage } from '../storage/types.ts'

type Entry = Extract<SessionLine, { kind: 'entry' }>

/**
 * Reads the messages of sessions. It caches the last session, so paging through one reads its file once, and
 * after that only the lines appended since.
 */
export class EntryReader {
  readonly #storage: Storage
  #last:
    | { id: string; cursor: ReadPosition; entries: readonly Entry[]; dropped: ReadonlySet<number> }
    | undefined

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /** Returns all messages of a session, oldest first. Fails as Storage.read does. */
  async read(id: string): Promise<readonly Entry[]> {
    return (await this.#read(id)).entries
  }

  /** Returns the `seq` of the messages that rewinds dropped. Fails as Storage.read does. */
  async readDropped(id: string): Promise<ReadonlySet<number>> {
    return (await this.#read(id)).dropped
  }

  async #read(id: string) {
    const before = this.#last?.id === id ? this.#last : undefined
    const { lines, cursor, whole } = await this.#storage.read(id, before?.cursor)
    const fresh = lines.filter((line) => line.kind === 'entry')
    const isMore = before !== undefined && !whole
    const entries = isMore ? before.entries.concat(fresh) : fresh
    const dropped =
      isMore && !hasRewrite(lines)
        ? before.dropped
        : droppedMessages(isMore ? (await this.#storage.read(id)).lines : lines)
    this.#last = { id, cursor, entries, dropped }
    return this.#last
  }
}
