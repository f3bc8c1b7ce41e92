import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FoundLine, SearchEngine } from './engine.ts'
import { type LineMatch, patternLineFinder, splitLineSpans } from './find-lines.ts'
import { toRegExp } from './regexp.ts'
import { walk } from './walk.ts'

/** Larger files are skipped. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

/**
 * Searches in this process, for machines without ripgrep: it is slower, and uses regular expressions of
 * JavaScript.
 */
export function javascriptEngine(): SearchEngine {
  return {
    async *files(scope, signal) {
      for await (const { shown } of walk(scope, signal)) yield shown
    },
    async *lines(query, scope, signal) {
      const find = patternLineFinder(toRegExp(query))
      for await (const { path, shown } of walk(scope, signal)) {
        const text = await readText(path, signal)
        const matches = find(text, query.limit)
        yield* withContext(text, { matches, context: query.context, path: shown })
      }
    },
    async *matchingFiles(query, scope, signal) {
      const find = patternLineFinder(toRegExp(query))
      for await (const { path, shown } of walk(scope, signal)) {
        const limit = query.counted ? Number.POSITIVE_INFINITY : 1
        const { length } = find(await readText(path, signal), limit)
        if (length > 0) yield { path: shown, lines: length }
      }
    },
  }
}

function* withContext(
  text: string,
  { matches, context, path }: { matches: readonly LineMatch[]; context: number; path: string },
): Generator<FoundLine> {
  const found = new Map(matches.map(({ number, at }) => [number, at]))
  let next = 0
  for (const { number, start, end } of splitLineSpans(matches.length > 0 ? text : '')) {
    while (next < matches.length && matches[next]!.number + context < number) next++
    const near = matches[next]
    if (!near) return
    if (near.number - context > number) continue
    yield { path, number, text: text.slice(start, end), matchAt: found.get(number) }
  }
}

/** Reads a file's text; empty when it is binary, too large or unreadable. */
async function readText(path: string, signal: AbortSignal): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    const stat = await file.stat()
    if (!stat.isFile() || stat.size > MAX_FILE_BYTES) return ''
    const bytes = await file.readFile({ signal })
    const wide = WIDE.find(({ mark }) => bytes.subarray(0, 2).equals(mark))
    if (!wide && bytes.includes(0)) return ''
    return new TextDecoder(wide?.encoding).decode(bytes)
  } catch {
    signal.throwIfAborted()
    return ''
  }
}

const WIDE = [
  { mark: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { mark: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
]
