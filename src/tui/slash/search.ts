import { newSearch, withFound } from '../overlays/search.ts'
import type { Search } from '../overlays/types.ts'
import { find } from '../search/find.ts'
import type { SearchScope } from '../search/types.ts'
import { newestFirst } from '../text/history.ts'
import { show } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/search [WORDS]`: all conversations by what was said in them; without words the latest. */
export async function searchConversations(
  args: string,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  show(context, await foundSearch('conversations', args, context, signal))
}

/** A search with what it finds. Throws what the other side reports. */
export async function foundSearch(
  scope: Exclude<SearchScope, 'prompts'>,
  query: string,
  { state, dispatch, ports }: SlashContext,
  signal: AbortSignal,
): Promise<Search> {
  const { agent, prompt, sender, session } = state()
  const search = newSearch({ scope, query, agent, sent: newestFirst(prompt.history) })
  const searcher = { dispatch, agent, sender, session, cwd: ports.cwd, now: ports.now() }
  return withFound(search, await find({ scope, query }, searcher, signal))
}
