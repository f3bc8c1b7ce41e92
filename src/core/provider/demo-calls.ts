import type { JsonObject, ToolCall } from '../base/message.ts'
import type { ToolSpec } from './types.ts'

/**
 * The tool call that a request to the demo model asks for, by a fixed form of words; undefined for any other request, or
 * when the tool is not offered.
 */
export function callFor(request: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  const asked = request.trim()
  const found = namedCall(asked, tools) ?? builtInCall(asked, tools) ?? serverCall(asked, tools)
  return found ?? fileCall(asked, tools)
}

/** The name in `call NAME` when no such tool is offered. */
export function unknownTool(request: string, tools: readonly ToolSpec[]): string | undefined {
  const name = NAMED.exec(request.trim())?.[1]
  return name === undefined || findTool(name, tools) ? undefined : name
}

function namedCall(asked: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  const [, name = '', args = '{}'] = NAMED.exec(asked) ?? []
  const tool = findTool(name, tools)
  return tool && { id: ID, name: tool.name, arguments: args }
}

function builtInCall(asked: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  for (const { tool, form, toArgs } of FORMS) {
    const words = form.exec(asked)
    if (words && tools.some(({ name }) => name === tool))
      return toCall(tool, toArgs(words[1] ?? '', words[2]))
  }
  return undefined
}

/** `echo hello` for a server's tool `echo` that needs one text. */
function serverCall(asked: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  const [, first = '', rest] = /^(\S+)\s+(\S[\s\S]*)$/.exec(asked) ?? []
  const name = first.toLowerCase()
  const tool = tools.find(({ server, alias }) => server !== undefined && alias?.toLowerCase() === name)
  const parameter = tool && onlyText(tool.parameters)
  return tool && parameter !== undefined ? toCall(tool.name, { [parameter]: rest }) : undefined
}

function fileCall(asked: string, tools: readonly ToolSpec[]): ToolCall | undefined {
  const path = ASKS_FOR_FILE.exec(asked.slice(0, MAX_ASKED))?.[1]
  return path && tools.some(({ name }) => name === 'read') ? toCall('read', { path }) : undefined
}

/** The one required parameter, when it is a text. */
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
    toArgs: (command) => ({ command: unquoted(command) }),
  },
  {
    tool: 'glob',
    form: /^list (?:all |the )?files(?: in (\S+))?$/i,
    toArgs: (path) => ({ pattern: '*', ...(path && { path: unquoted(path) }) }),
  },
  { tool: 'glob', form: /^find (\S+)$/i, toArgs: (pattern) => ({ pattern: unquoted(pattern) }) },
  {
    tool: 'grep',
    form: /^(?:search for|grep) (\S.*)$/i,
    toArgs: (pattern) => ({ pattern: unquoted(pattern) }),
  },
  {
    tool: 'write',
    form: /^write ([^\s:]+):\s*(\S[\s\S]*)$/i,
    toArgs: (path, text = '') => ({ path: unquoted(path), content: `${text}\n` }),
  },
]

const NAMED = /^call (\S+)(?:\s+(\{[\s\S]*\}))?$/i

function unquoted(text: string): string {
  return /^(["'`])(.*)\1$/s.exec(text)?.[2] ?? text
}

/** Characters in which a file is looked for: a prompt may be megabytes, a question is not. */
const MAX_ASKED = 1000
const ASKS_FOR_FILE =
  /\b(?:read|open|show|print|summari[sz]e|explain|look at)\b[^\n]*?[\s"'`](~?[\w./@-]*\w\.\w+|[\w.@-]*\/[\w./@-]+)/i
