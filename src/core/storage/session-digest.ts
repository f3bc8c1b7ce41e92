import { maskCredentials } from '../base/mask-credentials.ts'
import { collapseBlanks } from '../base/sanitize.ts'
import { withoutContext } from '../base/typed-message.ts'
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

/**
 * The facts about a session that listings need, and the position up to which it was read for them. A digest
 * is extended line by line as the session grows.
 */
export interface SessionDigest {
  summary: Omit<SessionSummary, 'activeSince'>
  cursor: ReadPosition
  /** ISO 8601; empty when it was never activated. */
  activatedAt: string
}

/** Extends the digest of a session by the lines read since; a part with `whole` starts a new digest. */
export function digestSession(
  id: string,
  part: SessionPart,
  before: SessionDigest | undefined,
): SessionDigest {
  const start = !part.whole && before ? before : { summary: toSummary(id, part.header), activatedAt: '' }
  const digest = { ...start, summary: { ...start.summary }, cursor: part.cursor }
  for (const line of part.lines) addLine(digest, line)
  return digest
}

/**
 * Whether a session belongs to the pair. A session that lost its header counts as the pair's, because its id
 * was derived from the pair.
 */
export function belongsTo({ agentId, sender }: Pair, pair: Pair): boolean {
  return (agentId === pair.agentId && sender === pair.sender) || (agentId === '' && sender === '')
}

/** Returns the agent and sender named in a header. */
export function toPair({ agent_id, created_by }: SessionHeader): Pair {
  return { agentId: agent_id, sender: created_by }
}

/**
 * Returns the pair's session that was created or activated last; ties within a millisecond go to the last id.
 */
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

/** Returns the rows of sessions. `digests` must include all sessions of each pair in it. */
export function toRows(digests: readonly SessionDigest[]): SessionRow[] {
  const active = new Map<string, string | undefined>()
  return digests.map((digest) => {
    const { id, agentId, sender } = digest.summary
    const pair = JSON.stringify([agentId, sender])
    if (!active.has(pair)) active.set(pair, findActive(digests, { agentId, sender }))
    return { summary: toRow(digest), isActive: active.get(pair) === id }
  })
}

/** Returns the summaries of sessions, newest first. */
export function toSummaries(digests: readonly SessionDigest[]): SessionSummary[] {
  return digests.map(toRow).sort((a, b) => descending(a.updatedAt, b.updatedAt) || descending(a.id, b.id))
}

/** Returns copies of the rows that match a filter, in their order. */
export function selectSummaries(rows: readonly SessionSummary[], filter: SessionFilter): SessionSummary[] {
  return rows.filter((row) => matchesFilter(row, filter)).map((row) => ({ ...row }))
}

/** Whether a session has a message or a title; others are useless in a list. */
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
    model: '',
    effort: '',
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
  if (line.kind === 'entry' && line.role === 'user')
    summary.preview ||= toPreview(withoutContext(line.typed ?? line.content))
  if (line.kind === 'compact') summary.archiveCount += 1
  if (line.kind === 'event' && line.event === 'rewound') {
    summary.messageCount = Math.max(0, summary.messageCount - line.messages)
    if (line.first) summary.preview = ''
  }
  if (line.kind === 'event' && line.event === 'compaction_undone') summary.archiveCount -= 1
  if (line.kind !== 'meta') return
  summary.title = line.title ?? summary.title
  summary.summary = line.summary ?? summary.summary
  summary.cwd = line.cwd ?? summary.cwd
  summary.model = line.model ?? summary.model
  summary.effort = line.effort ?? summary.effort
  digest.activatedAt = line.activated_at ?? digest.activatedAt
}

/** The maximum length of a preview, in code points, so that no surrogate pair is split. */
const PREVIEW_CHARS = 80

/**
 * The number of UTF-16 units a preview is made from: more than it holds, so that a secret is recognized
 * before it is truncated.
 */
const PREVIEW_SOURCE = 1024

/** Masks anything that looks like a secret, because previews appear in lists, searches and the catalog. */
function toPreview(content: string): string {
  const line = collapseBlanks(maskCredentials(content.slice(0, PREVIEW_SOURCE), '***'))
  return [...line].slice(0, PREVIEW_CHARS).join('')
}

function later(a: string, b: string): string {
  return a > b ? a : b
}

function descending(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? 1 : -1
}
