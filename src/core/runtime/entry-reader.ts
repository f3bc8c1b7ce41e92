import type { ReadPosition, SessionLine, Storage } from '../storage/types.ts'

type Entry = Extract<SessionLine, { kind: 'entry' }>

/**
 * Reads the messages of sessions. It caches the last session, so paging through one reads its file once, and
 * after that only the lines appended since.
 */
export class EntryReader {
  readonly #storage: Storage
  #last: { id: string; cursor: ReadPosition; entries: readonly Entry[] } | undefined

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /** Returns all messages of a session, oldest first. Fails as Storage.read does. */
  async read(id: string): Promise<readonly Entry[]> {
    const before = this.#last?.id === id ? this.#last : undefined
    const { lines, cursor, whole } = await this.#storage.read(id, before?.cursor)
    const fresh = lines.filter((line) => line.kind === 'entry')
    const entries = before && !whole ? before.entries.concat(fresh) : fresh
    this.#last = { id, cursor, entries }
    return entries
  }
}
