import { getErrorCode } from '../base/system-error.ts'
import type { QueryWords } from '../search/terms/query-words.ts'
import { decodeLine } from '../storage/session-file.ts'
import type { SessionLine } from '../storage/types.ts'
import { leadingSnippet, matchingSnippet } from './excerpt.ts'
import { FilePiece } from './file-piece.ts'
import { messageText } from './message-text.ts'
import { DOCUMENT_KINDS, type DocumentKind, type Excerpt, MAX_WINDOW_ITEMS } from './types.ts'

/** A match in a session file, and how many messages around it to read. */
export interface WindowRequest {
  path: string
  /** The words of the query; shared by all matches of a search. */
  words: QueryWords
  /**
   * The matching document: its index in DOCUMENT_KINDS, and the `seq` and first byte of its line. `seq` is 0
   * for a title or summary.
   */
  kind: number
  seq: number
  offset: number
  /**
   * The number of messages before and after it; the window is limited to MAX_WINDOW_ITEMS, including the
   * match.
   */
  before: number
  after: number
}

/**
 * Reads a match with the messages around it, oldest first; a title or summary is followed by the first
 * messages of the session. Only reads the bytes near the match.
 *
 * Returns undefined when the file, or that line of it, does not exist any more. Skips unusable lines around
 * the match.
 */
export async function readWindow(
  request: WindowRequest,
  signal: AbortSignal,
): Promise<Excerpt[] | undefined> {
  signal.throwIfAborted()
  using piece = openPiece(request)
  const line = piece && (await lineAt(piece, request.seq))
  if (!line) return undefined
  const { words, kind, seq } = request
  const { before, after } = computeBounds(request)
  if (line.kind === 'meta') {
    const match = metaExcerpt(line, DOCUMENT_KINDS[kind], words)
    return match && [match, ...(await readStart(request, after, signal))]
  }
  const match = line.seq === seq ? toExcerpt(line, words, matchingSnippet) : undefined
  if (!match) return undefined
  const around = { piece, words, seq, signal }
  const behind = await readAfter(around, after)
  return [...(await readBefore(around, before)), match, ...behind]
}

function openPiece({ path, offset }: WindowRequest): FilePiece | undefined {
  try {
    return new FilePiece(path, offset)
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

async function lineAt(piece: FilePiece, seq: number): Promise<SessionLine | undefined> {
  const text = piece.isLineStart ? await piece.next() : undefined
  const line = text === undefined ? undefined : decodeLine(text, { seq: seq - 1, createdAt: '' }).line
  return typeof line === 'object' ? line : undefined
}

async function readStart(
  { path, words }: WindowRequest,
  count: number,
  signal: AbortSignal,
): Promise<Excerpt[]> {
  using piece = new FilePiece(path, 0)
  return await readAfter({ piece, words, seq: -1, signal }, count) // the header counts as line 0
}

/**
 * Limits the messages on either side to the window. When both are too many, the messages after the match are
 * reduced first.
 */
export function computeBounds({ before, after }: Pick<WindowRequest, 'before' | 'after'>): {
  before: number
  after: number
} {
  const room = MAX_WINDOW_ITEMS - 1
  const front = Math.min(before, Math.max(room - after, Math.ceil(room / 2)))
  return { before: front, after: Math.min(after, room - front) }
}

interface WindowContext {
  piece: FilePiece
  words: QueryWords
  /** The seq of the line they surround. */
  seq: number
  signal: AbortSignal
}

async function readAfter({ piece, words, seq, signal }: WindowContext, count: number): Promise<Excerpt[]> {
  const found: Excerpt[] = []
  for (let last = seq; found.length < count; ) {
    signal.throwIfAborted()
    const text = await piece.next()
    if (text === undefined) break
    const decoded = decodeLine(text, { seq: last, createdAt: '' })
    last = decoded.seq
    found.push(...toContextExcerpts(decoded.line, words))
  }
  return found
}

async function readBefore({ piece, words, seq, signal }: WindowContext, count: number): Promise<Excerpt[]> {
  const found: Excerpt[] = []
  for (let first = seq; found.length < count; ) {
    signal.throwIfAborted()
    const text = await piece.previous()
    if (text === undefined) break
    const { seq: own, line } = decodeLine(text, { seq: 0, createdAt: '' })
    if (text.trim() !== '') first = own > 1 && own < first ? own : first - 1
    found.push(...toContextExcerpts(typeof line === 'object' ? { ...line, seq: first } : line, words))
  }
  return found.reverse()
}

/** Returns the excerpt of a title or summary; undefined when the line has none. */
export function metaExcerpt(
  { title, summary, ts }: SessionLine & { kind: 'meta' },
  role: DocumentKind | undefined,
  words: QueryWords,
): Excerpt | undefined {
  if (role !== 'title' && role !== 'summary') return undefined
  const text = role === 'title' ? title : summary
  return text === undefined ? undefined : { seq: 0, role, toolName: '', ts, ...matchingSnippet(text, words) }
}

/**
 * Returns the excerpt of a line near a match; an empty list for a line that is not a message. Tool results
 * are not searched, so their excerpts have no matches.
 */
export function toContextExcerpts(line: SessionLine | string | undefined, words: QueryWords): Excerpt[] {
  if (typeof line !== 'object') return []
  const isTool = line.kind === 'entry' && line.role === 'tool'
  const excerpt = toExcerpt(line, isTool ? undefined : words, leadingSnippet)
  return excerpt && excerpt.snippet !== '' ? [excerpt] : []
}

/** Returns the excerpt of a message, truncated by `cut`; undefined for a line that is not a message. */
export function toExcerpt<Words extends QueryWords | undefined>(
  line: SessionLine,
  words: Words,
  cut: (text: string, words: Words) => Pick<Excerpt, 'snippet' | 'truncated' | 'matches'>,
): Excerpt | undefined {
  if (line.kind !== 'entry') return undefined
  const { seq, role, ts, name = '', tool_calls: calls = [] } = line
  const toolName = role === 'tool' ? name : (calls[0]?.name ?? '')
  return { seq, role, toolName, ts, ...cut(messageText(line), words) }
}
