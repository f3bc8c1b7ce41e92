import { resolvePath } from '../../policy/paths.ts'
import type { Action } from '../../policy/types.ts'
import type { Hook, ToolDispatch, ToolOutput, ToolRequest } from '../../runtime/hook.ts'
import { globArguments, grepArguments } from './arguments.ts'
import type { SearchEngine } from './engine.ts'
import { findFiles } from './find-files.ts'
import { findText } from './find-text.ts'
import { SEARCH_TOOLS } from './specs.ts'
import { openTarget } from './target.ts'

export interface SearchHookOptions {
  /** Asked for each call. */
  engine(): Promise<SearchEngine>
  /** Files, and folders with all below, that are neither named nor read (0065). */
  closed: readonly string[]
  /** The person's own directory, for `~/`; empty when there is none. */
  homeDir: string
  /** Then the answer is what was found so far; by default half a minute. */
  timeLimitMs?: number
}

/** The tools `glob` and `grep`. */
export function searchHook(options: SearchHookOptions): Hook {
  return {
    schema: () => SEARCH_TOOLS,
    describe: (name, request) => (isSearch(name) ? describe(name, request, options) : undefined),
    dispatch: (name, call, signal) => (isSearch(name) ? search(name, { call, options }, signal) : undefined),
  }
}

const TIME_LIMIT_MS = 30_000

type SearchTool = 'glob' | 'grep'

function isSearch(name: string): name is SearchTool {
  return name === 'glob' || name === 'grep'
}

async function describe(
  name: SearchTool,
  { args, cwd }: ToolRequest,
  { homeDir }: SearchHookOptions,
): Promise<Action> {
  const { path } = name === 'glob' ? globArguments(args) : grepArguments(args)
  return { kind: 'read', path: await resolvePath(path, { workspace: cwd, homeDir }), shown: path }
}

async function search(
  name: SearchTool,
  { call, options }: { call: ToolDispatch; options: SearchHookOptions },
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { timeLimitMs = TIME_LIMIT_MS, closed } = options
  const { args, cwd, action, mayShow } = call
  if (action.kind !== 'read') throw new TypeError(`${name} was permitted as ${action.kind}`)
  const open = (glob: string | undefined) => openTarget({ ...action, glob, cwd, closed, mayShow })
  if (name === 'glob') {
    const target = await open(globArguments(args).pattern)
    return findFiles(await options.engine(), { target, timeLimitMs }, signal)
  }
  const query = grepArguments(args)
  const target = await open(query.glob)
  return findText(await options.engine(), { query, target, timeLimitMs }, signal)
}
