import { CrabError } from '../core/base/errors.ts'
import { parseObject } from '../core/base/json.ts'
import type { JsonObject } from '../core/base/message.ts'

/** A tool call as a person writes it, made into what a model would send. */
export interface PolicyCall {
  tool: string
  args: JsonObject
}

/**
 * Reads `bash(rm -rf build)`, `read(src/a.ts)`, `mcp__fs__write_file({"path":"x"})` or the name alone.
 *
 * What stands in the parentheses is the command, the path, or the arguments as a JSON object. Throws `usage`.
 */
export function readPolicyCall(text: string): PolicyCall {
  const [, tool = '', inside] = /^\s*([^\s()]+)(?:\((.*)\))?\s*$/s.exec(text) ?? []
  if (tool === '')
    throw unreadable(text, 'it is not the name of a tool, alone or with something in parentheses behind it')
  const args = inside === undefined || inside.trim() === '' ? {} : parseObject(inside)
  if (args) return { tool, args: missing(text, tool, args) }
  const key = MAIN_ARGUMENT.get(tool)
  if (key === undefined) throw unreadable(text, `${tool} takes a JSON object`)
  return { tool, args: { [key]: inside } }
}

/** Nothing can be said about a command, or a file, that is not named. */
function missing(text: string, tool: string, args: JsonObject): JsonObject {
  const key = MAIN_ARGUMENT.get(tool)
  if (key === undefined || OPTIONAL.has(tool) || Object.hasOwn(args, key)) return args
  throw unreadable(text, `${tool} needs a ${key}`)
}

function unreadable(text: string, why: string): CrabError {
  return new CrabError('usage', `Cannot read the call ${text}: ${why}`, {
    hint: "for example 'bash(npm test)', 'edit(src/a.ts)' or 'mcp__fs__read_file'",
  })
}

/** The argument that stands alone in the parentheses. */
const MAIN_ARGUMENT: ReadonlyMap<string, string> = new Map([
  ['bash', 'command'],
  ['read', 'path'],
  ['edit', 'path'],
  ['write', 'path'],
  ['glob', 'path'],
  ['grep', 'path'],
])

/** These look at the working directory when they are given no path. */
const OPTIONAL: ReadonlySet<string> = new Set(['glob', 'grep'])
