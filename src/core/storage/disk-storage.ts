import { constants, type FileHandle, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { CrabError } from '../base/errors.ts'
import { isMissingFile, replaceFile, syncDir, toStorageError } from '../base/files.ts'
import { ulidSequence } from '../base/ids.ts'
import { SessionCatalog } from './session-catalog.ts'
import { belongsTo, findActive, selectSummaries, toPair, toSummaries } from './session-digest.ts'
import { changedMeanwhile, noSuchSession } from './session-errors.ts'
import { encodeHeader, encodeLine, NEWLINE, sliceLines, stampLines } from './session-file.ts'
import { SessionFolder } from './session-folder.ts'
import { toSessionFile, toSessionPrefix } from './session-id.ts'
import { readRange, readSessionFile, readSessionHeader } from './session-reader.ts'
import type {
  NewLine,
  Pair,
  ReadPosition,
  SessionChange,
  SessionFilter,
  SessionHeader,
  SessionPart,
  SessionRow,
  SessionSummary,
  Storage,
} from './types.ts'

/** The folders and hooks of a disk storage. */
export interface DiskStorageOptions {
  /** The folder of the session files. */
  sessions: string
  /** The folder of data that can be rebuilt from them. */
  index: string
  /** Shared with other readers of the session files; by default its own. */
  folder?: SessionFolder
  /** Returns milliseconds since the epoch; by default the system clock. */
  now?: () => number
  /** Called after each change made here, once it is durable. Must not throw or block. */
  onChange?(change: SessionChange): void
}

/**
 * Stores each conversation as one file (ADR 0031). Several processes may use the same folders simultaneously.
 *
 * Appending to a session that is being deleted either completes before the deletion or throws `missing`; it
 * never brings the file back.
 */
export class DiskStorage implements Storage {
  readonly #sessions: string
  readonly #folder: SessionFolder
  readonly #catalog: SessionCatalog
  readonly #onChange: ((change: SessionChange) => void) | undefined
  readonly #now: () => number
  readonly #ulid = ulidSequence()

  constructor(options: DiskStorageOptions) {
    const { sessions, index, now = Date.now, folder = new SessionFolder({ path: sessions }) } = options
    this.#sessions = sessions
    this.#folder = folder
    this.#catalog = new SessionCatalog({ folder, index })
    this.#onChange = options.onChange
    this.#now = now
  }

  async activeSession(pair: Pair): Promise<string | undefined> {
    const ids = await this.#folder.listIds(toSessionPrefix(pair))
    if (ids.length > 1) return findActive(await this.#catalog.digests(ids), pair)
    const [id] = ids
    return id !== undefined && (await this.#belongsTo(pair, id)) ? id : undefined
  }

  async createSession(
    header: SessionHeader,
    lines: readonly NewLine[],
  ): Promise<{ id: string; cursor: ReadPosition }> {
    const id = this.#newId(header)
    const first = encodeHeader(header)
    const stamped = stampLines(lines, 0, this.#now())
    const texts = stamped.map(encodeLine)
    const content = Buffer.from(first + texts.join(''))
    await replaceFile(this.#path(id), content)
    const cursor = { bytes: content.length, seq: lines.length }
    const at = { bytes: Buffer.byteLength(first), seq: 0 }
    this.#onChange?.({ id, change: 'appended', header, at, lines: stamped, texts, end: cursor })
    return { id, cursor }
  }

  async copySession(id: string, header: SessionHeader, upto: number): Promise<string> {
    const copy = this.#newId(header)
    try {
      const lines = sliceLines(await readFile(this.#path(id)), upto)
      await replaceFile(this.#path(copy), encodeHeader(header) + lines)
    } catch (reason) {
      throw toSessionError(`Cannot copy session ${id}`, reason)
    }
    this.#onChange?.({ id: copy, change: 'copied' })
    return copy
  }

  async read(id: string, since?: ReadPosition): Promise<SessionPart> {
    const path = this.#path(id)
    try {
      return (await readSessionFile(path, since)).part
    } catch (reason) {
      throw toSessionError(`Cannot read session ${id}`, reason)
    }
  }

  async append(id: string, at: ReadPosition, lines: readonly NewLine[]): Promise<ReadPosition> {
    const path = this.#path(id)
    const stamped = stampLines(lines, at.seq, this.#now())
    const texts = stamped.map(encodeLine)
    const content = Buffer.from(texts.join(''))
    try {
      await using file = await open(path, constants.O_RDWR | constants.O_APPEND)
      await dropTornTail(file, id, at.bytes)
      await appendWhole(file, at.bytes, content)
    } catch (reason) {
      throw toSessionError(`Cannot append to session ${id}`, reason)
    }
    const end = { bytes: at.bytes + content.length, seq: at.seq + lines.length }
    this.#onChange?.({ id, change: 'appended', header: undefined, at, lines: stamped, texts, end })
    return end
  }

  async summaries(ids: readonly string[]): Promise<SessionRow[]> {
    return await this.#catalog.selectRows(ids)
  }

  async listSessions(filter: SessionFilter): Promise<SessionSummary[]> {
    const { agentId, sender } = filter
    const isPair = agentId !== undefined && sender !== undefined
    const rows = isPair ? await this.#listRows({ agentId, sender }) : await this.#catalog.rows()
    return selectSummaries(rows, filter)
  }

  async deleteSession(id: string): Promise<void> {
    try {
      await unlink(this.#path(id))
      await syncDir(this.#sessions)
    } catch (reason) {
      throw toSessionError(`Cannot delete session ${id}`, reason)
    }
    this.#onChange?.({ id, change: 'deleted' })
  }

  async #listRows(pair: Pair): Promise<SessionSummary[]> {
    return toSummaries(await this.#catalog.digests(await this.#folder.listIds(toSessionPrefix(pair))))
  }

  #newId(header: SessionHeader): string {
    return toSessionPrefix(toPair(header)) + this.#ulid(this.#now())
  }

  #path(id: string): string {
    return join(this.#sessions, toSessionFile(id))
  }

  /** Checks the header, because two pairs can share an id prefix, but never a session. */
  async #belongsTo(pair: Pair, id: string): Promise<boolean> {
    try {
      return belongsTo(toPair(await readSessionHeader(this.#path(id))), pair)
    } catch (reason) {
      if (isMissingFile(reason)) return false // deleted after it was listed
      throw toSessionError(`Cannot read session ${id}`, reason)
    }
  }
}

/**
 * Truncates a torn tail. Throws `conflict` unless the complete lines of the file end at `end`, that is,
 * unless the file is unchanged since the caller read it.
 */
async function dropTornTail(file: FileHandle, id: string, end: number): Promise<void> {
  const { size } = await file.stat()
  const start = Math.max(end - 1, 0)
  const bytes = await readRange(file, start, Math.max(size, start))
  const tail = bytes.subarray(end - start)
  const endsLine = end === 0 || bytes[0] === NEWLINE
  if (!endsLine || tail.includes(NEWLINE)) {
    throw changedMeanwhile(id)
  }
  if (tail.length > 0) await file.truncate(end)
}

/** Appends all bytes durably, or leaves the file as it was. */
async function appendWhole(file: FileHandle, end: number, content: Buffer): Promise<void> {
  try {
    await file.writeFile(content)
    await file.datasync()
  } catch (reason) {
    // if this fails too, the next append truncates or rejects what remains
    await file.truncate(end).catch(() => undefined)
    throw reason
  }
}

function toSessionError(what: string, reason: unknown): CrabError {
  return isMissingFile(reason) ? noSuchSession(what, reason) : toStorageError(what, reason)
}
