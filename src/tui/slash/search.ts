import { newSearch, withResults } from '../overlays/search.ts'
import type { Search } from '../overlays/types.ts'
import { searchChat } from '../search/search-chat.ts'
import type { ChatSearchScope } from '../search/types.ts'
import { newestFirst } from '../text/history.ts'
import { showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/search [WORDS]`: searches all conversations; without words it lists the latest. */
export async function searchConversations(
  args: string,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  showOverlay(context, await startSearch('conversations', args, context, signal))
}

/** Creates a search and runs it. Rejects with the error that the request reports. */
export async function startSearch(
  scope: Exclude<ChatSearchScope, 'prompts'>,
  query: string,
  { state, dispatch, ports }: SlashContext,
  signal: AbortSignal,
): Promise<Search> {
  const { agent, prompt, sender, session } = state()
  const search = newSearch({ scope, query, agent, sent: newestFirst(prompt.history) })
  const searcher = { dispatch, agent, sender, session, cwd: ports.cwd, now: ports.now() }
  return withResults(search, await searchChat({ scope, query }, searcher, signal))
}
