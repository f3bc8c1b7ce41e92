import { CrabError } from '../base/errors.ts'
import { hasContent } from '../storage/session-digest.ts'
import type { SessionFilter, SessionLine, SessionRow, SessionSummary, Storage } from '../storage/types.ts'
import type { EntryReader } from './entry-reader.ts'

/** Which of many; what is left out, and a limit of 0, is all of them. */
export interface PageRange {
  offset?: number | undefined
  limit?: number | undefined
}

/** `list_sessions` of RFC 0185: a page of the sessions in which something was said, newest first, and how many there are. */
export async function listSessions(
  storage: Pick<Storage, 'listSessions'>,
  { offset, limit, ...filter }: SessionFilter & PageRange = {},
): Promise<{ sessions: SessionSummary[]; total: number }> {
  const begun = (await storage.listSessions(filter)).filter(hasContent)
  return { sessions: cut(begun, { offset, limit }), total: begun.length }
}

/** `list_messages` of RFC 0185: a page of a session's messages, oldest first, and how many there are. Fails as Storage.read does. */
export async function listEntries(
  reader: EntryReader,
  { session, ...page }: { session: string } & PageRange,
): Promise<{ messages: (SessionLine & { kind: 'entry' })[]; total: number }> {
  const entries = await reader.read(session)
  return { messages: cut(entries, page), total: entries.length }
}

/** `get_session_meta` of RFC 0185: what is known of a session besides its messages. Fails as Storage.read does. */
export async function sessionMeta(
  storage: Pick<Storage, 'read' | 'summaries'>,
  session: string,
): Promise<SessionRow> {
  const [known] = await storage.summaries([session])
  if (known) return known
  await storage.read(session) // which says why
  throw new CrabError('missing', `Cannot find session ${session}: it was deleted meanwhile`)
}

function cut<T>(all: readonly T[], { offset = 0, limit = 0 }: PageRange): T[] {
  return all.slice(offset, limit === 0 ? undefined : offset + limit)
}
