import { CrabError } from '../base/errors.ts'
import type { CheckpointPart } from '../search/checkpoint/types.ts'
import type { FileStamp } from '../storage/session-reader.ts'
import type { ReadPosition, SessionHeader } from '../storage/types.ts'

/** A session that has documents in the index. */
export interface IndexedSession {
  readonly id: string
  /** Its group in the index; never reused. */
  readonly group: number
  readonly header: SessionHeader
  /** The position up to which it is indexed. */
  cursor: ReadPosition
  /** The state of the file at which all its whole lines were indexed. */
  stamp: FileStamp | undefined
}

/** The indexed sessions, and the position each is indexed to. */
export class SessionTable {
  readonly #byId = new Map<string, IndexedSession>()
  readonly #byGroup: (IndexedSession | undefined)[] = []
  readonly #texts = new Map<string, string>()
  #nextGroup = 0

  get size(): number {
    return this.#byId.size
  }

  findById(id: string): IndexedSession | undefined {
    return this.#byId.get(id)
  }

  findByGroup(group: number): IndexedSession | undefined {
    return this.#byGroup[group]
  }

  all(): Iterable<IndexedSession> {
    return this.#byId.values()
  }

  /** Allocates a group that was never used before. */
  newGroup(): number {
    return this.#nextGroup++
  }

  /** Adds or replaces a session; its group must come from newGroup(). */
  put(session: IndexedSession): IndexedSession {
    const entry = { ...session, header: this.#compactHeader(session.header) }
    this.#byId.set(entry.id, entry)
    this.#byGroup[entry.group] = entry
    this.#nextGroup = Math.max(this.#nextGroup, entry.group + 1)
    return entry
  }

  remove({ id, group }: IndexedSession): void {
    this.#byId.delete(id)
    this.#byGroup[group] = undefined
  }

  /** Returns a snapshot of the table. */
  toPart(): CheckpointPart {
    const sessions = [...this.#byId.values()]
    const numbers = new Float64Array(sessions.length * COLUMNS)
    sessions.forEach(({ group, cursor, stamp }, at) => {
      const { size = 0, mtimeMs = 0, ino = 0 } = stamp ?? {}
      numbers.set([group, cursor.bytes, cursor.seq, stamp ? 1 : 0, size, mtimeMs, ino], at * COLUMNS)
    })
    const texts = new TextEncoder().encode(JSON.stringify(sessions.map(toTexts)))
    return { facts: { sessions: sessions.length, nextGroup: this.#nextGroup }, arrays: { numbers, texts } }
  }

  /** Restores a table from toPart(). Throws `invalid` when the part is inconsistent. */
  static fromPart({ facts, arrays }: CheckpointPart): SessionTable {
    const table = new SessionTable()
    const { numbers, texts } = arrays
    if (!(numbers instanceof Float64Array) || !(texts instanceof Uint8Array)) throw invalidTable()
    const rows: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(texts)))
    if (!Array.isArray(rows) || numbers.length !== rows.length * COLUMNS) throw invalidTable()
    for (const [at, row] of rows.entries()) table.put(toSession(row, numbers.subarray(at * COLUMNS)))
    const { nextGroup = 0 } = facts
    if (table.size !== rows.length || nextGroup < table.#nextGroup) throw invalidTable()
    table.#nextGroup = nextGroup
    return table
  }

  /**
   * Copies the known fields of a header and shares equal strings, because there may be tens of thousands of
   * sessions.
   */
  #compactHeader({
    v,
    agent,
    agent_id,
    created_by,
    created_at,
    cwd,
    forked_from,
  }: SessionHeader): SessionHeader {
    return {
      v,
      agent: this.#intern(agent),
      agent_id: this.#intern(agent_id),
      created_by: this.#intern(created_by),
      created_at,
      cwd: this.#intern(cwd),
      ...(forked_from !== undefined && { forked_from }),
    }
  }

  #intern(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }
}

/** The number of numbers per session in a part. */
const COLUMNS = 7

type Texts = [id: string, v: number, ...texts: string[]]

function toTexts({ id, header }: IndexedSession): Texts {
  const { v, agent, agent_id, created_by, created_at, cwd, forked_from } = header
  return [
    id,
    v,
    agent,
    agent_id,
    created_by,
    created_at,
    cwd,
    ...(forked_from === undefined ? [] : [forked_from]),
  ]
}

function toSession(row: unknown, numbers: Float64Array): IndexedSession {
  if (!isTexts(row)) throw invalidTable()
  const [id, v, agent = '', agent_id = '', created_by = '', created_at = '', cwd = '', forked_from] = row
  const [group = 0, bytes = 0, seq = 0, isStamped = 0, size = 0, mtimeMs = 0, ino = 0] = numbers
  if (!Number.isSafeInteger(group) || group < 0) throw invalidTable()
  const header = { v, agent, agent_id, created_by, created_at, cwd, ...(forked_from && { forked_from }) }
  const stamp = isStamped === 1 ? { size, mtimeMs, ino } : undefined
  return { id, group, header, cursor: { bytes, seq }, stamp }
}

function isTexts(row: unknown): row is Texts {
  if (!Array.isArray(row) || row.length < 7) return false
  return typeof row[1] === 'number' && row.every((text, at) => at === 1 || typeof text === 'string')
}

function invalidTable(): CrabError {
  return new CrabError('invalid', 'Cannot use the table of sessions: it differs from what was saved')
}
