import { CrabError } from '../../base/errors.ts'

/** The names of the tools that read and change files. */
export type FileTool = 'read' | 'write' | 'edit'

/** A range of lines, counted from 1. */
export interface LineRange {
  offset: number
  /** Undefined when the model sets no limit. */
  limit: number | undefined
}

/** One replacement. `all` lets `old` occur more than once. */
export interface Edit {
  old: string
  new: string
  all: boolean
}

/**
 * Returns the path that a call names. Like every function of this file, it fails with `invalid` and the name
 * of the field.
 *
 * The argument names of other programs' tools are accepted too, because models send what they were trained
 * on. A null argument counts as absent; numbers and booleans may come as strings, and `edits` as JSON.
 * Unknown arguments are ignored.
 */
export function readPathArgument(tool: FileTool, args: Args): string {
  const path = requireText(
    tool,
    'path',
    pickArgument(args, ['path', 'file_path', 'filePath', 'filename', 'file']),
  )
  if (path === '') throw bad(tool, 'path must not be empty')
  if (path.includes('\0')) throw bad(tool, 'path has a NUL character')
  if (tool === 'write' && /[/\\]$/.test(path)) throw bad(tool, 'path must name a file, not a folder')
  return path
}

/** Returns the lines that `read` starts at and stops at. An offset of 0 also means the first line. */
export function readRangeArgument(args: Args): LineRange {
  const offset = readCount('offset', args['offset'], 0)
  return { offset: Math.max(1, offset ?? 1), limit: readCount('limit', args['limit'], 1) }
}

/** Returns the content that `write` puts into the file. */
export function readContentArgument(args: Args): string {
  return requireText('write', 'content', pickArgument(args, ['content', 'contents', 'text']))
}

/** Returns the replacements of `edit`, at least one; a single one may be given next to `path` instead. */
export function readEditsArgument(args: Args): Edit[] {
  const list = toList(pickArgument(args, ['edits']) ?? args)
  if (list.length === 0) throw bad('edit', 'edits must not be empty')
  return list.map((item, index) => toEdit(item, args['edits'] == null ? '' : `edits[${index}].`))
}

type Args = Readonly<Record<string, unknown>>

const OLD = ['old', 'old_string', 'oldString', 'old_text', 'oldText', 'old_str']
const NEW = ['new', 'new_string', 'newString', 'new_text', 'newText', 'new_str']
const ALL = ['all', 'replace_all', 'replaceAll']

function toList(value: unknown): unknown[] {
  const list = typeof value === 'string' ? parsed(value) : value
  if (isObject(list)) return [list]
  if (Array.isArray(list)) return list
  throw bad('edit', 'edits must be an array of {old, new}')
}

function toEdit(item: unknown, place: string): Edit {
  if (!isObject(item)) throw bad('edit', `${place.slice(0, -1)} must be an object {old, new}`)
  const before = requireText('edit', `${place}old`, pickArgument(item, OLD))
  const after = requireText('edit', `${place}new`, pickArgument(item, NEW))
  const all = pickArgument(item, ALL) ?? false
  if (before === '')
    throw bad('edit', `${place}old must not be empty`, 'to insert, replace a line by itself and the new ones')
  if (before === after) throw bad('edit', `${place}old and new are the same`)
  if (typeof all !== 'boolean' && all !== 'true' && all !== 'false')
    throw bad('edit', `${place}all must be true or false`)
  return { old: before, new: after, all: String(all) === 'true' }
}

/** Returns the first of these arguments that is present. */
function pickArgument(args: Args, names: readonly string[]): unknown {
  const name = names.find((known) => Object.hasOwn(args, known) && args[known] !== null)
  return name === undefined ? undefined : args[name]
}

function requireText(tool: FileTool, field: string, value: unknown): string {
  if (value === undefined) throw bad(tool, `${field} is missing`)
  if (typeof value !== 'string') throw bad(tool, `${field} must be a string`)
  if (!value.isWellFormed()) throw bad(tool, `${field} has half of a surrogate pair`)
  return value
}

function readCount(field: string, value: unknown, least: number): number | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < least)
    throw bad('read', `${field} must be a whole number of at least 1`)
  return count
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller reports the expected shape
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function bad(tool: FileTool, why: string, hint?: string): CrabError {
  return new CrabError('invalid', `Cannot ${tool}: ${why}`, hint === undefined ? {} : { hint })
}
