import { abortable } from '../../base/abortable.ts'
import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import type { FolderAccess } from '../folder.ts'
import { globArguments, grepArguments } from './arguments.ts'
import type { SearchEngine } from './engine.ts'
import { findFiles } from './find-files.ts'
import { findText } from './find-text.ts'
import { openSearchTarget } from './target.ts'

/** The context of a search call. */
export interface SearchContext extends Pick<FolderAccess, 'fdLinks'> {
  /** Called once per search call. */
  engine(): Promise<SearchEngine>
  /** Files, and folders with everything below them, that are neither named nor read (ADR 0065). */
  closed: readonly string[]
  /** The time after which the answer is what was found so far; by default half a minute. */
  timeLimitMs?: number
}

const TIME_LIMIT_MS = 30_000

/** Runs a permitted call of `glob` or `grep`. */
export async function runSearch(
  name: 'glob' | 'grep',
  { call, setting }: { call: ToolDispatch; setting: SearchContext },
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { timeLimitMs = TIME_LIMIT_MS, ...access } = setting
  const { args, cwd, action, mayShow } = call
  if (action.kind !== 'read') throw new TypeError(`${name} was permitted as ${action.kind}`)
  const query = name === 'glob' ? undefined : grepArguments(args)
  const glob = query ? query.glob : globArguments(args).pattern
  const engine = await abortable(setting.engine(), signal)
  await using target = await openSearchTarget({ ...access, ...action, glob, cwd, mayShow })
  const output = query
    ? await findText(engine, { query, target, timeLimitMs }, signal)
    : await findFiles(engine, { target, timeLimitMs }, signal)
  await target.verify()
  return output
}
