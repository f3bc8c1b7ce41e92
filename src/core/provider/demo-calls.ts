import type { JsonObject, ToolCall } from '../base/message.ts'
import type { ToolSpec } from './types.ts'

/**
 * Returns the tool call for a request to the demo model that has one of its fixed forms; undefined for any
 * other request, or when the tool is not available.
 */
export function callFor(request: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  const text = request.trim()
  const found = namedCall(text, tools) ?? builtInCall(text, tools) ?? serverCall(text, tools)
  return found ?? fileCall(text, tools)
}

/** Returns the name in `call NAME` when no such tool is available. */
export function unknownTool(request: string, tools: readonly ToolSpec[]): string | undefined {
  const name = NAMED.exec(request.trim())?.[1]
  return name === undefined || findTool(name, tools) ? undefined : name
}

function namedCall(text: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  const [, name = '', args = '{}'] = NAMED.exec(text) ?? []
  const tool = findTool(name, tools)
  return tool && { id: ID, name: tool.name, arguments: args }
}

function builtInCall(text: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  for (const { tool, form, toArgs } of FORMS) {
    const words = form.exec(text)
    if (words && tools.some(({ name }) => name === tool))
      return toCall(tool, toArgs(words[1] ?? '', words[2]))
  }
  return undefined
}

/** Parses `echo hello` for a server's tool `echo` that requires exactly one string. */
function serverCall(text: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  const [, first = '', rest] = /^(\S+)\s+(\S[\s\S]*)$/.exec(text) ?? []
  const name = first.toLowerCase()
  const tool = tools.find(({ server, alias }) => server !== undefined && alias?.toLowerCase() === name)
  const parameter = tool && onlyText(tool.parameters)
  return tool && parameter !== undefined ? toCall(tool.name, { [parameter]: rest }) : undefined
}

function fileCall(text: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  const path = FILE_REQUEST.exec(text.slice(0, MAX_QUESTION))?.[1]
  return path && tools.some(({ name }) => name === 'read') ? toCall('read', { path }) : undefined
}

/** Returns the only required parameter, if it is a string. */
function onlyText({ required, properties }: JsonObject): string | undefined {
  const [name, ...more] = Array.isArray(required) ? (required as string[]) : []
  if (name === undefined || more.length > 0) return undefined
  const { type } = (properties as Record<string, JsonObject> | undefined)?.[name] ?? {}
  return type === 'string' ? name : undefined
}

function findTool(name: string, tools: readonly ToolSpec[]): ToolSpec | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find(({ alias }) => alias === name)
}

function toCall(name: string, args: Record<string, unknown>): ToolCall {
  return { id: ID, name, arguments: JSON.stringify(args) }
}

const ID = 'demo-1'

interface Form {
  tool: string
  form: RegExp
  toArgs(first: string, second: string | undefined): Record<string, unknown>
}

const FORMS: readonly Form[] = [
  {
    tool: 'bash',
    form: /^(?:run\s|!)\s*(\S[\s\S]*)$/i,
    toArgs: (command) => ({ command: unquote(command) }),
  },
  {
    tool: 'glob',
    form: /^list (?:all |the )?files(?: in (\S+))?$/i,
    toArgs: (path) => ({ pattern: '*', ...(path && { path: unquote(path) }) }),
  },
  { tool: 'glob', form: /^find (\S+)$/i, toArgs: (pattern) => ({ pattern: unquote(pattern) }) },
  {
    tool: 'grep',
    form: /^(?:search for|grep) (\S.*)$/i,
    toArgs: (pattern) => ({ pattern: unquote(pattern) }),
  },
  {
    tool: 'write',
    form: /^write ([^\s:]+):\s*(\S[\s\S]*)$/i,
    toArgs: (path, text = '') => ({ path: unquote(path), content: `${text}\n` }),
  },
]

const NAMED = /^call (\S+)(?:\s+(\{[\s\S]*\}))?$/i

function unquote(text: string): string {
  return /^(["'`])(.*)\1$/s.exec(text)?.[2] ?? text
}

/** The number of characters searched for a file name: a prompt may be megabytes long, a question is not. */
const MAX_QUESTION = 1000
const FILE_REQUEST =
  /\b(?:read|open|show|print|summari[sz]e|explain|look at)\b[^\n]*?[\s"'`](~?[\w./@-]*\w\.\w+|[\w.@-]*\/[\w./@-]+)/i
