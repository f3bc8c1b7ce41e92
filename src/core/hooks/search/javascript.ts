import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { CrabError } from '../../base/errors.ts'
import type { FoundLine, SearchEngine, SearchQuery } from './engine.ts'
import { type LineMatch, patternLineFinder, splitLineSpans } from './find-lines.ts'
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

/**
 * Converts a pattern of ripgrep to JavaScript, as far as the two agree. Throws `invalid` for one that cannot
 * be converted.
 */
export function toRegExp({ pattern, ignoreCase }: SearchQuery): RegExp {
  const [prefix, inline = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? ['']
  const source = pattern.slice(prefix.length).replace(/\[:(\^?)(\w+):\]/g, toClass)
  const flags = ignoreCase || inline.includes('i') ? 'i' : ''
  try {
    return new RegExp(source, `${flags}u`)
  } catch (reason) {
    if (!LOOSE.test(source)) throw notARegExp(reason)
  }
  try {
    return new RegExp(source, flags)
  } catch (reason) {
    throw notARegExp(reason)
  }
}

/**
 * Matches sources without escaped letters that only some dialects know: these may be compiled without the `u`
 * flag, which rejects `\"` or a lone `}`.
 */
const LOOSE = /^(?:[^\\]|\\[^a-zA-Z]|\\[bBdDfnrsStvwW])*$/s

function toClass(written: string, not: string, name: string): string {
  const members = CLASSES.get(name)
  if (members && not === '') return members
  throw new CrabError('invalid', `Cannot search: the class ${written} is not supported here`)
}

const CLASSES: ReadonlyMap<string, string> = new Map([
  ['alnum', 'a-zA-Z0-9'],
  ['alpha', 'a-zA-Z'],
  ['digit', '0-9'],
  ['lower', 'a-z'],
  ['space', '\\s'],
  ['upper', 'A-Z'],
  ['word', '\\w'],
  ['xdigit', '0-9a-fA-F'],
])

function notARegExp(reason: unknown): CrabError {
  const why = (reason as Error).message.replace(/^.*: /s, '')
  return new CrabError('invalid', `Cannot search: the pattern is not a valid regular expression: ${why}`)
}
