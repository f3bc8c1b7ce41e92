import type { ToolSpec } from '../../provider/types.ts'
import type { Hook, ToolDispatch, ToolGroup, ToolOutput } from '../../runtime/hook.ts'
import type { SearchPort } from './run-search-sessions.ts'

/**
 * The tool `search_sessions` (RFC 0185): past conversations by what was said in them. It needs no permission, because an
 * agent is shown only those of whoever it speaks with (decision 38).
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

/** Terse, because it goes with every request; what it takes besides is in arguments.ts. */
const SPEC: ToolSpec = {
  name: 'search_sessions',
  description: 'Search past conversations',
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      since: { type: 'string', description: 'ISO date' },
    },
    required: ['query'],
  },
  readOnly: true,
}

async function search(call: ToolDispatch, port: SearchPort, signal: AbortSignal): Promise<ToolOutput> {
  const { runSearchSessions } = await import('./run-search-sessions.ts') // only now: most turns do not search
  return await runSearchSessions(call, port, signal)
}
