import { CrabError } from '../base/errors.ts'
import { hasContent } from '../storage/session-digest.ts'
import type { SessionFilter, SessionLine, SessionRow, SessionSummary, Storage } from '../storage/types.ts'
import type { EntryReader } from './entry-reader.ts'

/**
 * The range of a page. Without an offset it starts at the first item; without a limit, or with 0, it has no
 * end.
 */
export interface PageRange {
  offset?: number | undefined
  limit?: number | undefined
}

/**
 * Returns a page of the sessions in which something was said, newest first, and their total (ADR 0127,
 * `list_sessions`).
 */
export async function listSessions(
  storage: Pick<Storage, 'listSessions'>,
  { offset, limit, ...filter }: SessionFilter & PageRange = {},
): Promise<{ sessions: SessionSummary[]; total: number }> {
  const nonEmpty = (await storage.listSessions(filter)).filter(hasContent)
  return { sessions: slicePage(nonEmpty, { offset, limit }), total: nonEmpty.length }
}

/**
 * Returns a page of a session's messages, oldest first, and their total (ADR 0127, `list_messages`). Fails as
 * Storage.read does.
 */
export async function listEntries(
  reader: EntryReader,
  { session, ...page }: { session: string } & PageRange,
): Promise<{ messages: (SessionLine & { kind: 'entry' })[]; total: number }> {
  const entries = await reader.read(session)
  return { messages: slicePage(entries, page), total: entries.length }
}

/**
 * Returns what is known of a session other than its messages (ADR 0127, `get_session_meta`). Fails as
 * Storage.read does.
 */
export async function sessionMeta(
  storage: Pick<Storage, 'read' | 'summaries'>,
  session: string,
): Promise<SessionRow> {
  const [known] = await storage.summaries([session])
  if (known) return known
  await storage.read(session) // throws with the reason
  throw new CrabError('missing', `Cannot find session ${session}: it was deleted in the meantime`)
}

function slicePage<T>(all: readonly T[], { offset = 0, limit = 0 }: PageRange): T[] {
  return all.slice(offset, limit === 0 ? undefined : offset + limit)
}
