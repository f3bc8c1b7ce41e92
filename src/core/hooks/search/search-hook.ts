import { resolvePath } from '../../policy/paths.ts'
import type { PolicyAction } from '../../policy/types.ts'
import type { ToolSpec } from '../../provider/types.ts'
import type { Hook, ToolDispatch, ToolGroup, ToolOutput, ToolRequest } from '../../runtime/hook.ts'
import { FD_LINKS } from '../folder.ts'
import { globArguments, grepArguments } from './arguments.ts'
import type { SearchContext } from './run-search.ts'

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

const STRING = { type: 'string' }

/** `glob` and `grep` as models see them. Every byte is paid for on every turn. */
export const SEARCH_TOOLS: readonly ToolSpec[] = [
  {
    name: 'glob',
    description: 'Find files by name or path, newest first',
    parameters: { type: 'object', properties: { pattern: STRING, path: STRING }, required: ['pattern'] },
    readOnly: true,
  },
  {
    name: 'grep',
    description: 'Search files for a regex',
    parameters: {
      type: 'object',
      properties: {
        pattern: STRING,
        path: STRING,
        glob: STRING,
        ignoreCase: { type: 'boolean' },
        context: { type: 'integer', description: 'lines around a match' },
        mode: { enum: ['content', 'files', 'count'] },
      },
      required: ['pattern'],
    },
    readOnly: true,
  },
]

/** The group of `glob` and `grep`. */
const SEARCH_GROUP: ToolGroup = {
  id: 'search',
  title: 'Search',
  description: 'Find files, and text in files',
  tools: SEARCH_TOOLS.map(({ name }) => name),
}
