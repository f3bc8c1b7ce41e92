import type { ToolSpec } from '../../provider/types.ts'
import type { Hook, ToolDispatch, ToolGroup, ToolOutput } from '../../runtime/hook.ts'
import type { SearchPort } from './run-search-sessions.ts'

/**
 * Provides the tool `search_sessions`, which finds past conversations by their words (ADR 0125, ADR 0127). It
 * needs no permission, because a turn sees only conversations with the senders that its trust class may see.
 */
export function searchSessionsHook(port: SearchPort): Hook {
  return {
    schema: () => [SPEC],
    groups: () => [GROUP],
    dispatch: (name, call, signal) => (name === SPEC.name ? search(call, port, signal) : undefined),
  }
}

const GROUP: ToolGroup = {
  id: 'conversations',
  title: 'Past conversations',
  description: 'Find what was said before',
  tools: ['search_sessions'],
}

/** Terse, because it is sent with every request; arguments.ts accepts more than the schema says. */
const SPEC: ToolSpec = {
  name: 'search_sessions',
  description: 'Search past conversations',
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      since: { type: 'string', description: 'ISO date' },
    },
  },
  readOnly: true,
}

async function search(call: ToolDispatch, port: SearchPort, signal: AbortSignal): Promise<ToolOutput> {
  const { runSearchSessions } = await import('./run-search-sessions.ts') // loaded lazily: most turns do not search
  return await runSearchSessions(call, port, signal)
}
