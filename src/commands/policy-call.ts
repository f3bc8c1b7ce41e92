import { CrabError } from '../core/base/errors.ts'
import { parseObject } from '../core/base/json.ts'
import type { JsonObject } from '../core/base/message.ts'

/** A tool call that a person wrote, converted to what a model would send. */
export interface PolicyCall {
  tool: string
  args: JsonObject
}

/**
 * Parses `bash(rm -rf build)`, `read(notes.txt)`, `mcp__fs__write_file({"path":"x"})` or a name alone.
 *
 * The parentheses contain the command, the path, or the arguments as a JSON object. Throws `usage`.
 */
export function readPolicyCall(text: string): PolicyCall {
  const [, tool = '', inside] = /^\s*([^\s()]+)(?:\((.*)\))?\s*$/s.exec(text) ?? []
  if (tool === '')
    throw unreadable(text, 'it is not a tool name, alone or followed by something in parentheses')
  const args = inside === undefined || inside.trim() === '' ? {} : parseObject(inside)
  if (args) return { tool, args: requireMainArgument(text, tool, args) }
  const key = MAIN_ARGUMENT.get(tool)
  if (key === undefined) throw unreadable(text, `${tool} takes a JSON object`)
  return { tool, args: { [key]: inside } }
}

/** Throws `usage` when the command or file, on which the decision depends, is missing. */
function requireMainArgument(text: string, tool: string, args: JsonObject): JsonObject {
  const key = MAIN_ARGUMENT.get(tool)
  if (key === undefined || OPTIONAL.has(tool) || Object.hasOwn(args, key)) return args
  throw unreadable(text, `${tool} needs a ${key}`)
}

function unreadable(text: string, why: string): CrabError {
  return new CrabError('usage', `Cannot read the call ${text}: ${why}`, {
    hint: "for example 'bash(npm test)', 'edit(src/a.ts)' or 'mcp__fs__read_file'",
  })
}

/** The argument that may stand alone in the parentheses. */
const MAIN_ARGUMENT: ReadonlyMap<string, string> = new Map([
  ['bash', 'command'],
  ['read', 'path'],
  ['edit', 'path'],
  ['write', 'path'],
  ['glob', 'path'],
  ['grep', 'path'],
])

/** The tools that use the working directory when no path is given. */
const OPTIONAL: ReadonlySet<string> = new Set(['glob', 'grep'])
