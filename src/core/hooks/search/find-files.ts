import type { ToolOutput } from '../../runtime/hook.ts'
import { collectMatches } from './collect.ts'
import type { SearchEngine } from './engine.ts'
import type { SearchTarget } from './target.ts'

/** The most files that are named. */
const MAX_SHOWN = 200
/** The most files that are collected, of which the newest are shown. */
const MAX_FOUND = 50_000

/** Runs `glob`: returns the files of a target, newest first. */
export async function findFiles(
  engine: SearchEngine,
  { target, timeLimitMs }: { target: SearchTarget; timeLimitMs: number },
  signal: AbortSignal,
): Promise<ToolOutput> {
  const search = (either: AbortSignal) => admitted(engine.files(target.scope, either), target)
  const { items, stopped } = await collectMatches(search, { maxItems: MAX_FOUND, timeLimitMs }, signal)
  const files = await newestFirst(items, target, signal)
  const shown = files.slice(0, MAX_SHOWN).map((path) => target.show(path))
  const left = files.length - shown.length
  // The others really have that character in their names.
  const unnamed = countUndecoded(items) - countUndecoded(files)
  const notes = [
    ...(files.length === 0 ? ['No files found.'] : []),
    ...(left > 0 ? [`[${left} more]`] : []),
    ...(unnamed > 0 ? [`[${unnamed} more, with names that are not UTF-8; bash reaches those]`] : []),
    ...(stopped === undefined ? [] : [`[The search stopped ${stopped}; narrow it.]`]),
  ]
  return { output: [...shown, ...notes].join('\n'), isError: false }
}

/**
 * Counts the names with replacement characters: the system returns those for bytes that are not UTF-8, and
 * such names open nothing.
 */
function countUndecoded(paths: readonly string[]): number {
  return paths.filter((path) => path.includes('\ufffd')).length
}

async function* admitted(paths: AsyncIterable<string>, target: SearchTarget): AsyncGenerator<string> {
  for await (const path of paths) if (target.admits(path)) yield path
}

/** The number of files whose times are read concurrently. */
const BATCH = 64

async function newestFirst(
  paths: readonly string[],
  target: SearchTarget,
  signal: AbortSignal,
): Promise<string[]> {
  const dated: { path: string; changedAt: number }[] = []
  for (let start = 0; start < paths.length; start += BATCH) {
    signal.throwIfAborted()
    const batch = paths.slice(start, start + BATCH)
    const times = await Promise.all(batch.map((path) => target.changedAt(path)))
    dated.push(
      ...batch.flatMap((path, at) => (times[at] === undefined ? [] : { path, changedAt: times[at] })),
    )
  }
  dated.sort((a, b) => b.changedAt - a.changedAt || byPath(a.path, b.path))
  return dated.map(({ path }) => path)
}

function byPath(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
