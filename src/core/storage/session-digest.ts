import { maskCredentials } from '../base/mask-credentials.ts'
import type {
  Pair,
  ReadPosition,
  SessionFilter,
  SessionHeader,
  SessionLine,
  SessionPart,
  SessionRow,
  SessionSummary,
} from './types.ts'

/** What listings need of a session, and how far it was read for that; grows with the session, line by line. */
export interface SessionDigest {
  summary: Omit<SessionSummary, 'activeSince'>
  cursor: ReadPosition
  /** ISO 8601; empty when it never was. */
  activatedAt: string
}

/** The digest of a session with what was read since; a whole part starts it anew. */
export function digestSession(
  id: string,
  part: SessionPart,
  before: SessionDigest | undefined,
): SessionDigest {
  const start = !part.whole && before ? before : { summary: toSummary(id, part.header), activatedAt: '' }
  const grown = { ...start, summary: { ...start.summary }, cursor: part.cursor }
  for (const line of part.lines) addLine(grown, line)
  return grown
}

/** Whether a session is the pair's; one whose header was lost is whoever's its name says. */
export function belongsTo({ agentId, sender }: Pair, pair: Pair): boolean {
  return (agentId === pair.agentId && sender === pair.sender) || (agentId === '' && sender === '')
}

/** Who speaks with whom in the session with this header. */
export function toPair({ agent_id, created_by }: SessionHeader): Pair {
  return { agentId: agent_id, sender: created_by }
}

/** Of a pair's sessions the one created or activated last; of several in one millisecond, the last id. */
export function findActive(digests: readonly SessionDigest[], pair: Pair): string | undefined {
  let active: { id: string; since: string } | undefined
  for (const digest of digests) {
    if (!belongsTo(digest.summary, pair)) continue
    const { id } = digest.summary
    const since = activeSince(digest)
    if (!active || since > active.since || (since === active.since && id > active.id)) active = { id, since }
  }
  return active?.id
}

/** Rows of all sessions of some pairs. */
export function toRows(digests: readonly SessionDigest[]): SessionRow[] {
  const active = new Map<string, string | undefined>()
  return digests.map((digest) => {
    const { id, agentId, sender } = digest.summary
    const pair = JSON.stringify([agentId, sender])
    if (!active.has(pair)) active.set(pair, findActive(digests, { agentId, sender }))
    return { summary: toRow(digest), isActive: active.get(pair) === id }
  })
}

/** Rows of sessions, newest first. */
export function toSummaries(digests: readonly SessionDigest[]): SessionSummary[] {
  return digests.map(toRow).sort((a, b) => descending(a.updatedAt, b.updatedAt) || descending(a.id, b.id))
}

/** The rows that a listing asks for, in their order; copies, which are the caller's. */
export function selectSummaries(rows: readonly SessionSummary[], filter: SessionFilter): SessionSummary[] {
  return rows.filter((row) => matchesFilter(row, filter)).map((row) => ({ ...row }))
}

/** Whether anything was said in a session, or a title given to it; others are no use in a list. */
export function hasContent({ messageCount, title }: Pick<SessionSummary, 'messageCount' | 'title'>): boolean {
  return messageCount > 0 || title !== ''
}

function toRow(digest: SessionDigest): SessionSummary {
  return { ...digest.summary, activeSince: activeSince(digest) }
}

function activeSince({ summary, activatedAt }: SessionDigest): string {
  return later(summary.createdAt, activatedAt)
}

function matchesFilter(row: SessionSummary, { agentId, sender, cwd }: SessionFilter): boolean {
  return (
    (agentId === undefined || row.agentId === agentId) &&
    (sender === undefined || row.sender === sender) &&
    (cwd === undefined || row.cwd === cwd)
  )
}

function toSummary(id: string, header: SessionHeader): SessionDigest['summary'] {
  return {
    id,
    agent: header.agent,
    agentId: header.agent_id,
    sender: header.created_by,
    cwd: header.cwd,
    title: '',
    summary: '',
    preview: '',
    createdAt: header.created_at,
    updatedAt: header.created_at,
    messageCount: 0,
    archiveCount: 0,
    forkedFrom: header.forked_from,
  }
}

function addLine(digest: SessionDigest, line: SessionLine): void {
  const { summary } = digest
  summary.updatedAt = line.ts
  if (line.kind === 'entry' && line.role !== 'tool') summary.messageCount += 1
  if (line.kind === 'entry' && line.role === 'user') summary.preview ||= toPreview(line.typed ?? line.content)
  if (line.kind === 'compact') summary.archiveCount += 1
  if (line.kind !== 'meta') return
  summary.title = line.title ?? summary.title
  summary.summary = line.summary ?? summary.summary
  digest.activatedAt = line.activated_at ?? digest.activatedAt
}

/** Characters of a preview; code points, so that none is cut in two. */
const PREVIEW_CHARS = 80

/** What is looked at for a preview; longer than one, so that a secret is known before it is cut. */
const PREVIEW_SOURCE = 1024

/** What looks like a secret is masked: previews go into lists, searches and the catalogue. */
function toPreview(content: string): string {
  const line = maskCredentials(content.slice(0, PREVIEW_SOURCE), '***').replaceAll(/\s+/g, ' ').trim()
  return [...line].slice(0, PREVIEW_CHARS).join('')
}

function later(a: string, b: string): string {
  return a > b ? a : b
}

function descending(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? 1 : -1
}
