import { CrabError } from '../../base/errors.ts'
import { hasGlob, unescapeGlob } from '../../base/glob.ts'

/** The parsed arguments of `glob`. */
export interface GlobArguments {
  pattern: string
  /** The path as the model wrote it; the working directory when it wrote none. */
  path: string
}

/** The parsed arguments of `grep`. */
export interface GrepArguments extends GlobArguments {
  glob: string | undefined
  ignoreCase: boolean
  /** The number of lines around a match. */
  context: number
  mode: GrepMode
}

/** The output of `grep`: matching lines, names of files, or names with the number of matching lines. */
export type GrepMode = 'content' | 'files' | 'count'

type Args = Readonly<Record<string, unknown>>

/**
 * Parses the arguments of `glob`. A pattern may begin with the folder to search. Throws `invalid`, naming the
 * field.
 */
export function globArguments(args: Args): GlobArguments {
  const pattern = requiredText('glob', 'pattern', args['pattern'])
  const path = parsePath('glob', args)
  if (!/^(?:~|\.\.)?[\\/]|^[A-Za-z]:[\\/]/.test(pattern)) return { pattern, path }
  const segments = pattern.split('/')
  const first = segments.findIndex(hasGlob)
  const base = segments.slice(0, first < 0 ? -1 : first)
  const folder = `${unescapeGlob(base.join('/'))}/`
  return {
    pattern: `/${segments.slice(base.length).join('/')}`, // the leading slash matches paths below the folder, not names
    path: base[0] === '..' ? `${path}/${folder}` : folder,
  }
}

/**
 * Parses the arguments of `grep`. Throws `invalid`, naming the field.
 *
 * The argument names of other programs' tools are accepted too, because models send what they were trained
 * on; null counts as absent.
 */
export function grepArguments(args: Args): GrepArguments {
  const pattern = requiredText('grep', 'pattern', args['pattern'])
  if (/\n|(?<!\\)(?:\\\\)*\\n/.test(pattern)) {
    throw bad('grep', 'pattern must not hold a line break: lines are searched one by one')
  }
  return {
    pattern,
    path: parsePath('grep', args),
    glob: parseText('grep', 'glob', args['glob'] ?? args['include']),
    ignoreCase: parseBoolean(args['ignoreCase'] ?? args['ignore_case'] ?? args['-i']),
    context: parseContext(args['context'] ?? args['-C']),
    mode: parseMode(args['mode'] ?? args['output_mode']),
  }
}

/** A larger context is the job of `read`. */
const MAX_CONTEXT = 20

function parseContext(value: unknown): number {
  const count = Number(value ?? 0)
  if (Number.isInteger(count) && count >= 0) return Math.min(count, MAX_CONTEXT)
  throw bad('grep', 'context must be a number of lines')
}

function parseMode(value: unknown): GrepMode {
  const mode = value === 'files_with_matches' ? 'files' : (value ?? 'content')
  if (mode === 'content' || mode === 'files' || mode === 'count') return mode
  throw bad('grep', 'mode must be content, files or count')
}

function parseBoolean(value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (['true', 'false'].includes(String(value))) return String(value) === 'true'
  throw bad('grep', 'ignoreCase must be true or false')
}

function parsePath(tool: string, args: Args): string {
  return parseText(tool, 'path', args['path']) || '.'
}

function requiredText(tool: string, name: string, value: unknown): string {
  const text = parseText(tool, name, value)
  if (text !== undefined && text !== '') return text
  throw bad(tool, `${name} is missing`)
}

/** Requires a string without NUL, which no argument of a program can contain. */
function parseText(tool: string, name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw bad(tool, `${name} must be a string`)
  if (value.includes('\0')) throw bad(tool, `${name} has a NUL character`)
  return value
}

function bad(tool: string, why: string): CrabError {
  return new CrabError('invalid', `Cannot run ${tool}: ${why}`)
}
