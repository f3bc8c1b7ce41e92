import { CrabError } from '../base/errors.ts'
import { Serial } from '../base/serial.ts'
import { QueryWords } from '../search/terms/query-words.ts'
import { TextIndex } from '../search/text-index.ts'
import { NO_OFFSET, type TextHit } from '../search/types.ts'
import type { SessionLine, Storage } from '../storage/types.ts'
import { matchingSnippet } from './excerpt.ts'
import { findHits } from './find-matches.ts'
import { addLine } from './live-lines.ts'
import { SessionTable } from './session-table.ts'
import {
  DOCUMENT_KINDS,
  DOCUMENT_WEIGHTS,
  type DocumentKind,
  type Excerpt,
  MAX_SESSION_HITS,
  type SessionMatch,
  type SessionMatches,
  type SessionQuery,
} from './types.ts'
import { computeBounds, metaExcerpt, toContextExcerpts, toExcerpt } from './window.ts'

/**
 * Searches the sessions of any `Storage`, for programs that supply their own. The index is in memory; each
 * search first reads what was appended since the last one. For session files in a home, SessionIndex is
 * faster.
 */
export class StorageSearch {
  readonly #storage: Pick<Storage, 'listSessions' | 'read'>
  readonly #text = new TextIndex({ weights: DOCUMENT_WEIGHTS })
  readonly #table = new SessionTable()
  readonly #reads = new Serial()

  constructor(storage: Pick<Storage, 'listSessions' | 'read'>) {
    this.#storage = storage
  }

  /** Answers like SessionIndex.search(), and is never partial. Throws what Storage.read() throws. */
  async search(query: SessionQuery, signal: AbortSignal): Promise<SessionMatches> {
    await this.#reads.run(() => this.#catchUp(signal))
    const hits = findHits({ followed: { text: this.#text, table: this.#table }, reranks: true }, query)
    const words = new QueryWords(query.text, this.#text.characters)
    const matches: SessionMatch[] = []
    for (const hit of hits.slice(0, Math.min(query.limit, MAX_SESSION_HITS))) {
      signal.throwIfAborted()
      matches.push(...(await this.#toMatch(hit, { query, words })))
    }
    return { matches, partial: false }
  }

  async #catchUp(signal: AbortSignal): Promise<void> {
    const rows = await this.#storage.listSessions({})
    const ids = new Set(rows.map(({ id }) => id))
    for (const session of [...this.#table.all()]) if (!ids.has(session.id)) this.#forget(session)
    for (const id of ids) {
      signal.throwIfAborted()
      await this.#read(id)
    }
  }

  async #read(id: string): Promise<void> {
    const known = this.#table.findById(id)
    const part = await this.#storage.read(id, known?.cursor).catch(ignoreMissing)
    if (!part) return
    const { whole, header, lines, cursor } = part
    if (known && whole) this.#forget(known)
    const rest = { id, header, cursor, stamp: undefined }
    const session = known && !whole ? known : this.#table.put({ ...rest, group: this.#table.newGroup() })
    session.cursor = cursor
    for (const line of lines) addLine(this.#text, { group: session.group, offset: NO_OFFSET }, line)
  }

  #forget(session: { id: string; group: number }): void {
    const known = this.#table.findById(session.id)
    if (!known) return
    this.#text.removeGroups([known.group])
    this.#table.remove(known)
  }

  async #toMatch(
    hit: TextHit,
    { query, words }: { query: SessionQuery; words: QueryWords },
  ): Promise<SessionMatch[]> {
    const known = this.#table.findByGroup(hit.group)
    const part = known && (await this.#storage.read(known.id).catch(ignoreMissing))
    if (!part) return []
    const { id: session, header } = known
    const kind = DOCUMENT_KINDS[hit.kind]!
    const window = toWindow(part.lines, { kind, seq: hit.seq, query, words })
    return window ? [{ session, header, kind, seq: hit.seq, score: hit.score, window }] : []
  }
}

/** Ignores `missing`: the session was deleted after it was listed. */
function ignoreMissing(reason: unknown): undefined {
  if (!(reason instanceof CrabError && reason.kind === 'missing')) throw reason
}

/** Finds a match in the lines of its session; returns the same as readWindow(). */
function toWindow(
  lines: readonly SessionLine[],
  { kind, seq, query, words }: { kind: DocumentKind; seq: number; query: SessionQuery; words: QueryWords },
): Excerpt[] | undefined {
  const bounds = computeBounds({ before: query.contextBefore, after: query.contextAfter })
  const around = (part: readonly SessionLine[]) => part.flatMap((line) => toContextExcerpts(line, words))
  if (kind === 'title' || kind === 'summary') {
    const line = lines.findLast((one) => one.kind === 'meta' && one[kind] !== undefined)
    const match = line?.kind === 'meta' ? metaExcerpt(line, kind, words) : undefined
    return match && [match, ...around(lines).slice(0, bounds.after)]
  }
  const at = lines.findIndex((line) => line.seq === seq)
  const match = at < 0 ? undefined : toExcerpt(lines[at]!, words, matchingSnippet)
  if (!match) return undefined
  const front = bounds.before === 0 ? [] : around(lines.slice(0, at)).slice(-bounds.before)
  return [...front, match, ...around(lines.slice(at + 1)).slice(0, bounds.after)]
}
