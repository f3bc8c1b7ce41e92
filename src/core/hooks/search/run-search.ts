import { orCancelled } from '../../base/cancelled.ts'
import type { ToolDispatch, ToolOutput } from '../../runtime/hook.ts'
import { globArguments, grepArguments } from './arguments.ts'
import type { SearchEngine } from './engine.ts'
import { findFiles } from './find-files.ts'
import { findText } from './find-text.ts'
import { openTarget } from './target.ts'

/** What a call searches with. */
export interface SearchSetting {
  /** Asked for each call. */
  engine(): Promise<SearchEngine>
  /** Files, and folders with all below, that are neither named nor read (0065). */
  closed: readonly string[]
  /** Then the answer is what was found so far; by default half a minute. */
  timeLimitMs?: number
}

const TIME_LIMIT_MS = 30_000

/** Runs a permitted call of `glob` or `grep`. */
export async function runSearch(
  name: 'glob' | 'grep',
  { call, setting }: { call: ToolDispatch; setting: SearchSetting },
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { engine, closed, timeLimitMs = TIME_LIMIT_MS } = setting
  const { args, cwd, action, mayShow } = call
  if (action.kind !== 'read') throw new TypeError(`${name} was permitted as ${action.kind}`)
  const open = (glob: string | undefined) => openTarget({ ...action, glob, cwd, closed, mayShow })
  if (name === 'glob') {
    const target = await open(globArguments(args).pattern)
    return await findFiles(await orCancelled(engine(), signal), { target, timeLimitMs }, signal)
  }
  const query = grepArguments(args)
  const target = await open(query.glob)
  return await findText(await orCancelled(engine(), signal), { query, target, timeLimitMs }, signal)
}
