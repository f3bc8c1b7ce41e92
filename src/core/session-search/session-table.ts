import { CrabError } from '../base/errors.ts'
import type { CheckpointPart } from '../search/checkpoint/types.ts'
import type { FileStamp } from '../storage/session-reader.ts'
import type { ReadPosition, SessionHeader } from '../storage/types.ts'

/** A session of which documents are in the index. */
export interface IndexedSession {
  readonly id: string
  /** What the index calls it; never given twice. */
  readonly group: number
  readonly header: SessionHeader
  /** How far it is indexed. */
  cursor: ReadPosition
  /** The file in a state in which all its whole lines are indexed. */
  stamp: FileStamp | undefined
}

/** Which sessions are in the index, and how far. */
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

  /** A group that nothing had before. */
  newGroup(): number {
    return this.#nextGroup++
  }

  /** Puts a session there, under a group from newGroup(). */
  put(session: IndexedSession): IndexedSession {
    const kept = { ...session, header: this.#slim(session.header) }
    this.#byId.set(kept.id, kept)
    this.#byGroup[kept.group] = kept
    this.#nextGroup = Math.max(this.#nextGroup, kept.group + 1)
    return kept
  }

  remove({ id, group }: IndexedSession): void {
    this.#byId.delete(id)
    this.#byGroup[group] = undefined
  }

  /** All of it, as it is now. */
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

  /** Throws `invalid` when it is not what toPart() gave. */
  static fromPart({ facts, arrays }: CheckpointPart): SessionTable {
    const table = new SessionTable()
    const { numbers, texts } = arrays
    if (!(numbers instanceof Float64Array) || !(texts instanceof Uint8Array)) throw noTable()
    const rows: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(texts)))
    if (!Array.isArray(rows) || numbers.length !== rows.length * COLUMNS) throw noTable()
    for (const [at, row] of rows.entries()) table.put(toSession(row, numbers.subarray(at * COLUMNS)))
    const { nextGroup = 0 } = facts
    if (table.size !== rows.length || nextGroup < table.#nextGroup) throw noTable()
    table.#nextGroup = nextGroup
    return table
  }

  /** What is known of a header, with the same strings for the same texts: there may be tens of thousands. */
  #slim({ v, agent, agent_id, created_by, created_at, cwd, forked_from }: SessionHeader): SessionHeader {
    return {
      v,
      agent: this.#shared(agent),
      agent_id: this.#shared(agent_id),
      created_by: this.#shared(created_by),
      created_at,
      cwd: this.#shared(cwd),
      ...(forked_from !== undefined && { forked_from }),
    }
  }

  #shared(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }
}

/** Numbers of a session in a part. */
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
  if (!isTexts(row)) throw noTable()
  const [id, v, agent = '', agent_id = '', created_by = '', created_at = '', cwd = '', forked_from] = row
  const [group = 0, bytes = 0, seq = 0, isStamped = 0, size = 0, mtimeMs = 0, ino = 0] = numbers
  if (!Number.isSafeInteger(group) || group < 0) throw noTable()
  const header = { v, agent, agent_id, created_by, created_at, cwd, ...(forked_from && { forked_from }) }
  const stamp = isStamped === 1 ? { size, mtimeMs, ino } : undefined
  return { id, group, header, cursor: { bytes, seq }, stamp }
}

function isTexts(row: unknown): row is Texts {
  if (!Array.isArray(row) || row.length < 7) return false
  return typeof row[1] === 'number' && row.every((text, at) => at === 1 || typeof text === 'string')
}

function noTable(): CrabError {
  return new CrabError('invalid', 'Cannot use the table of sessions: it is not what was saved')
}
