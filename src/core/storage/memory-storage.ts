import { ulidSequence } from '../base/ids.ts'
import {
  digestSession,
  findActive,
  type SessionDigest,
  selectSummaries,
  toPair,
  toRows,
  toSummaries,
} from './session-digest.ts'
import { changedMeanwhile, noSuchSession } from './session-errors.ts'
import {
  decodeHeader,
  decodeLines,
  decodeSession,
  encodeHeader,
  encodeLines,
  sliceLines,
} from './session-file.ts'
import { checkSessionId, toSessionPrefix } from './session-id.ts'
import type {
  NewLine,
  Pair,
  ReadPosition,
  SessionFilter,
  SessionHeader,
  SessionPart,
  SessionRow,
  SessionSummary,
  Storage,
} from './types.ts'

/** The settings of a memory storage. */
export interface MemoryStorageOptions {
  /** Returns milliseconds since the epoch; by default the system clock. */
  now?: () => number
}

/**
 * Keeps conversations in this process only, for runs that store nothing: the same lines as on disk, as text.
 */
export class MemoryStorage implements Storage {
  readonly #sessions = new Map<string, StoredLine[]>()
  readonly #now: () => number
  readonly #ulid = ulidSequence()

  constructor({ now = Date.now }: MemoryStorageOptions = {}) {
    this.#now = now
  }

  async activeSession(pair: Pair): Promise<string | undefined> {
    return findActive(this.#digests(toSessionPrefix(pair)), pair)
  }

  async createSession(
    header: SessionHeader,
    lines: readonly NewLine[],
  ): Promise<{ id: string; cursor: ReadPosition }> {
    const id = this.#newId(header)
    const session: StoredLine[] = []
    push(session, [encodeHeader(header), ...encodeLines(lines, 0, this.#now())])
    this.#sessions.set(id, session)
    return { id, cursor: findEnd(session) }
  }

  async copySession(id: string, header: SessionHeader, upto: number): Promise<string> {
    const source = this.#find(`Cannot copy session ${id}`, id)
    const copy = this.#newId(header)
    const lines = sliceLines(toBytes(source), upto).split(/(?<=\n)/)
    const session: StoredLine[] = []
    push(session, [encodeHeader(header), ...lines.filter(Boolean)])
    this.#sessions.set(copy, session)
    return copy
  }

  async read(id: string, since?: ReadPosition): Promise<SessionPart> {
    const session = this.#find(`Cannot read session ${id}`, id)
    const header = toBytes(session.slice(0, 1))
    if (!since || session[since.seq]?.end !== since.bytes) return decodeSession(toBytes(session))
    return decodeLines(toBytes(session.slice(since.seq + 1)), { header: decodeHeader(header).header, since })
  }

  async append(id: string, at: ReadPosition, lines: readonly NewLine[]): Promise<ReadPosition> {
    const session = this.#find(`Cannot append to session ${id}`, id)
    if (findEnd(session).bytes !== at.bytes) throw changedMeanwhile(id)
    push(session, encodeLines(lines, at.seq, this.#now()))
    return findEnd(session)
  }

  async summaries(ids: readonly string[]): Promise<SessionRow[]> {
    const rows = new Map(toRows(this.#digests('')).map((row) => [row.summary.id, row]))
    return ids.flatMap((id) => rows.get(id) ?? [])
  }

  async listSessions(filter: SessionFilter): Promise<SessionSummary[]> {
    return selectSummaries(toSummaries(this.#digests('')), filter)
  }

  async deleteSession(id: string): Promise<void> {
    this.#find(`Cannot delete session ${id}`, id)
    this.#sessions.delete(id)
  }

  #newId(header: SessionHeader): string {
    return toSessionPrefix(toPair(header)) + this.#ulid(this.#now())
  }

  #find(what: string, id: string): StoredLine[] {
    checkSessionId(id)
    const session = this.#sessions.get(id)
    if (!session) throw noSuchSession(what)
    return session
  }

  #digests(prefix: string): SessionDigest[] {
    const sessions = [...this.#sessions].filter(([id]) => id.startsWith(prefix))
    return sessions.map(([id, session]) => digestSession(id, decodeSession(toBytes(session)), undefined))
  }
}

/**
 * A line with its newline, and the length of the session in bytes up to its end. The first line is the
 * header.
 */
interface StoredLine {
  text: string
  end: number
}

function push(session: StoredLine[], lines: readonly string[]): void {
  for (const text of lines) session.push({ text, end: (session.at(-1)?.end ?? 0) + Buffer.byteLength(text) })
}

function findEnd(session: readonly StoredLine[]): ReadPosition {
  return { bytes: session.at(-1)?.end ?? 0, seq: session.length - 1 }
}

function toBytes(session: readonly StoredLine[]): Buffer {
  return Buffer.from(session.map(({ text }) => text).join(''))
}
