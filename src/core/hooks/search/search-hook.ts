import { resolvePath } from '../../policy/paths.ts'
import type { PolicyAction } from '../../policy/types.ts'
import type { Hook, ToolDispatch, ToolOutput, ToolRequest } from '../../runtime/hook.ts'
import { FD_LINKS } from '../folder.ts'
import { globArguments, grepArguments } from './arguments.ts'
import type { SearchContext } from './run-search.ts'
import { SEARCH_GROUP, SEARCH_TOOLS } from './specs.ts'

/** The dependencies of the search tools. */
export interface SearchHookOptions extends Omit<SearchContext, 'fdLinks'> {
  /** The folder whose links lead to the open files of this process; by default that of Linux. */
  fdLinks?: string
  /** The user's home directory, for `~/`; empty when there is none. */
  homeDir: string
}

/** Provides the tools `glob` and `grep` (ADR 0076). */
export function searchHook(options: SearchHookOptions): Hook {
  return {
    schema: () => SEARCH_TOOLS,
    groups: () => [SEARCH_GROUP],
    describe: (name, request) => (isSearch(name) ? describe(name, request, options) : undefined),
    dispatch: (name, call, signal) => (isSearch(name) ? search(name, { call, options }, signal) : undefined),
  }
}

type SearchTool = 'glob' | 'grep'

function isSearch(name: string): name is SearchTool {
  return name === 'glob' || name === 'grep'
}

async function describe(
  name: SearchTool,
  { args, cwd }: ToolRequest,
  { homeDir }: SearchHookOptions,
): Promise<PolicyAction> {
  const { path } = name === 'glob' ? globArguments(args) : grepArguments(args)
  return { kind: 'read', path: await resolvePath(path, { workspace: cwd, homeDir }), shown: path }
}

async function search(
  name: SearchTool,
  { call, options }: { call: ToolDispatch; options: SearchHookOptions },
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { runSearch } = await import('./run-search.ts') // loaded lazily: most turns do not search
  return await runSearch(name, { call, setting: { fdLinks: FD_LINKS, ...options } }, signal)
}
