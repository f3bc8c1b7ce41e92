import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { headOf } from '../base/cut.ts'
import { isMissingFile } from '../base/files.ts'
import type { Hook, ToolDispatch, ToolOutput } from '../runtime/hook.ts'

const MAX_LINES = 2_000
/** Largest answer, UTF-16 units. */
const MAX_CHARS = 50_000
const MAX_FILE_BYTES = 64 * 1024 * 1024

const SPEC = {
  name: 'read',
  description: `Read a text file, at most ${MAX_LINES} lines at once.`,
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      offset: { type: 'integer', minimum: 1, description: 'first line' },
      limit: { type: 'integer', minimum: 1, description: 'number of lines' },
    },
    required: ['path'],
  },
  readOnly: true,
}

/** The `read` tool: text files below the working directory, but none of `closed` (files, and folders with all below). */
export function readHook({ closed }: { closed: readonly string[] }): Hook {
  return {
    schema: () => [SPEC],
    dispatch: (name, call, signal) => (name === SPEC.name ? read(call, closed, signal) : undefined),
  }
}

async function read(
  { args, cwd }: ToolDispatch,
  closed: readonly string[],
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { path } = args
  const offset = args['offset'] ?? 1 // some models say null for what they leave out
  const limit = args['limit'] ?? MAX_LINES
  if (typeof path !== 'string' || path === '') return fail('Cannot read: path must be a string')
  if (!isCount(offset) || !isCount(limit))
    return fail('Cannot read: offset and limit must be whole numbers from 1')
  const place = await locate(path, { cwd, closed })
  if ('problem' in place) return fail(`Cannot read ${path}: ${place.problem}`)
  const content = await readText(place.real, signal)
  if ('problem' in content) return fail(`Cannot read ${path}: ${content.problem}`)
  return excerpt(content.text, { offset, limit: Math.min(limit, MAX_LINES) })
}

type Problem = { problem: string }

/** The file a path means, links resolved, when it lies in the working directory and is not closed. */
async function locate(
  path: string,
  { cwd, closed }: { cwd: string; closed: readonly string[] },
): Promise<{ real: string } | Problem> {
  try {
    const [root, real] = await Promise.all([realpath(cwd), realpath(resolve(cwd, path))])
    if (!isInside(root, real)) return { problem: `it is outside the working directory ${cwd}` }
    const roots = await Promise.all(closed.map((place) => realpath(place).catch(() => place))) // not there yet
    if (roots.some((place) => isInside(place, real))) return { problem: "it is one of crabtalk's own files" }
    return { real }
  } catch (reason) {
    return { problem: isMissingFile(reason) ? 'there is no such file' : messageOf(reason) }
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function readText(path: string, signal: AbortSignal): Promise<{ text: string } | Problem> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK) // a FIFO must not block
    const stat = await file.stat()
    if (stat.isDirectory()) return { problem: 'it is a directory' }
    if (!stat.isFile()) return { problem: 'it is not a regular file' }
    if (stat.size > MAX_FILE_BYTES)
      return { problem: `it has ${stat.size} bytes; the limit is ${MAX_FILE_BYTES}` }
    const bytes = await file.readFile({ signal })
    if (bytes.includes(0)) return { problem: `it is a binary file of ${bytes.length} bytes` }
    return { text: new TextDecoder().decode(bytes) }
  } catch (reason) {
    signal.throwIfAborted()
    return { problem: messageOf(reason) }
  }
}

/** The asked lines, and where to go on when there are more. */
function excerpt(text: string, range: { offset: number; limit: number }): ToolOutput {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  if (lines.length === 0) return { output: '[The file is empty.]', isError: false }
  if (range.offset > lines.length)
    return fail(`Cannot read from line ${range.offset}: the file has ${lines.length} lines`)
  const taken = fitting(lines.slice(range.offset - 1, range.offset - 1 + range.limit))
  const last = range.offset - 1 + taken.count
  const whole = range.offset === 1 && last === lines.length && !taken.cut
  const note = `\n[lines ${range.offset}-${last} of ${lines.length}${taken.cut ? ', a long line was cut' : ''}]`
  return { output: taken.text + (whole ? '' : note), isError: false }
}

/** As many lines as fit the answer; a first line that alone is too long is cut. */
function fitting(lines: readonly string[]): { text: string; count: number; cut: boolean } {
  let size = 0
  let count = 0
  for (const line of lines) {
    size += line.length + Math.min(count, 1) // the newline before it
    if (size > MAX_CHARS) break
    count++
  }
  if (count > 0) return { text: lines.slice(0, count).join('\n'), count, cut: false }
  return { text: headOf(lines[0]!, MAX_CHARS), count: 1, cut: true }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}

function fail(output: string): ToolOutput {
  return { output, isError: true }
}
