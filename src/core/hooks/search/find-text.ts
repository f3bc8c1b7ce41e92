import { takeEnd, takeStart } from '../../base/truncate.ts'
import type { ToolOutput } from '../../runtime/hook.ts'
import type { GrepArguments } from './arguments.ts'
import { collectMatches } from './collect.ts'
import type { FoundFile, FoundLine, SearchEngine } from './engine.ts'
import { renderFiles, renderLines } from './render.ts'
import type { SearchTarget } from './target.ts'

/** The number of lines, or files, at which a search stops. */
const MAX_FOUND = 5_000
/** The longest line that is shown whole, in UTF-16 units. */
const MAX_LINE_CHARS = 300
/** The number of characters shown before the match in a longer line. */
const LEAD_CHARS = 100

/** Runs `grep`: returns the matches in the files of a target, in the order of their paths. */
export async function findText(
  engine: SearchEngine,
  { query, target, timeLimitMs }: { query: GrepArguments; target: SearchTarget; timeLimitMs: number },
  signal: AbortSignal,
): Promise<ToolOutput> {
  const limits = { maxItems: MAX_FOUND, timeLimitMs }
  const admits = admission(target)
  const { mode } = query
  if (mode === 'content') {
    const search = (either: AbortSignal) => {
      const lines = engine.lines({ ...query, limit: MAX_FOUND }, target.scope, either)
      return excerpted(admitted<FoundLine>(lines, admits))
    }
    return renderLines(await collectMatches(search, limits, signal), target)
  }
  const counted = mode === 'count'
  const search = (either: AbortSignal) =>
    admitted<FoundFile>(engine.matchingFiles({ ...query, counted }, target.scope, either), admits)
  return renderFiles(await collectMatches(search, limits, signal), { target, counted })
}

/** Truncates a long line around its match. The result does not keep the original text in memory. */
export function toLineExcerpt({ text, matchAt = 0 }: Pick<FoundLine, 'text' | 'matchAt'>): string {
  const start = Math.max(0, Math.min(matchAt - LEAD_CHARS, text.length - MAX_LINE_CHARS))
  const rest = takeEnd(text, text.length - start)
  const head = takeStart(rest, MAX_LINE_CHARS)
  return detached(`${start > 0 ? '…' : ''}${head}${head.length < rest.length ? '…' : ''}`)
}

async function* excerpted(lines: AsyncIterable<FoundLine>): AsyncGenerator<FoundLine> {
  for await (const line of lines) yield { ...line, text: toLineExcerpt(line) }
}

async function* admitted<T extends { path: string }>(
  found: AsyncIterable<T>,
  admits: (path: string) => Promise<boolean>,
): AsyncGenerator<T> {
  for await (const item of found) if (await admits(item.path)) yield item
}

/** Returns a check that runs once per file, because the matches of one file come together. */
function admission(target: SearchTarget): (path: string) => Promise<boolean> {
  let last: { path: string; answer: Promise<boolean> } | undefined
  return (path) => {
    if (last?.path !== path) last = { path, answer: admitsFile(target, path) }
    return last.answer
  }
}

async function admitsFile(target: SearchTarget, path: string): Promise<boolean> {
  return target.admits(path) && (await target.changedAt(path)) !== undefined
}

/** Copies a text: V8 keeps a whole string in memory while a slice of it is in use. */
function detached(text: string): string {
  return Buffer.from(text).toString()
}
