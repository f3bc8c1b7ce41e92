import type { SearchSessions, SessionHits } from '../../core/protocol/crabtalk.generated.ts'
import { notYet } from './not-yet.ts'
import type { Served } from './served.ts'

/** `search_sessions`: the sessions a caller may see whose messages, title or summary match best. */
export async function searchSessions(
  _served: Served,
  _message: SearchSessions,
  _signal: AbortSignal,
): Promise<SessionHits> {
  return await notYet('searchSessions')()
}
