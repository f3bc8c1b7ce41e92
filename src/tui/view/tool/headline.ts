import { parseObject } from '../../../core/base/json.ts'
import { readTodoItems } from '../../../core/base/todo.ts'
import type { ToolRun } from '../blocks.ts'
import { cleanLine, cleanText } from '../clean.ts'

/** A call in words: the action and its object. Both are clean and on one line. */
export interface Headline {
  verb: string
  object: string
}

/** Describes a call for its line. */
export function toHeadline(tool: ToolRun): Headline {
  const { name, server } = tool
  const args = toArguments(tool)
  if (server !== '')
    return { verb: `${cleanLine(server)} · ${cleanLine(withoutServer(name, server))}`, object: short(args) }
  const known = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined
  if (!known) return { verb: cleanLine(name), object: short(args) }
  return { verb: known.verb, object: firstLine(known.object(args)) }
}

/** Returns the arguments of a call; empty while its JSON is incomplete. */
export function toArguments({
  arguments: json,
}: Pick<ToolRun, 'arguments'>): Readonly<Record<string, unknown>> {
  return parseObject(json) ?? {}
}

type Args = Readonly<Record<string, unknown>>

const getPath = (args: Args) => textOrEmpty(args['path'])
const getName = (args: Args) => textOrEmpty(args['name'])

const BUILT_IN: Record<string, { verb: string; object: (args: Args) => string }> = {
  bash: { verb: 'Run', object: (args) => textOrEmpty(args['command']) },
  read: { verb: 'Read', object: (args) => getPath(args) + formatRange(args) },
  write: { verb: 'Write', object: getPath },
  edit: { verb: 'Edit', object: getPath },
  glob: { verb: 'Find', object: (args) => inPath(textOrEmpty(args['pattern']), args) },
  grep: { verb: 'Search', object: (args) => inPath(`"${textOrEmpty(args['pattern'])}"`, args) },
  ask_user: { verb: 'Ask', object: getQuestion },
  todo: { verb: 'Todo', object: getCurrentItem },
  present_plan: { verb: 'Plan', object: (args) => textOrEmpty(args['plan']).replace(/^#+ /, '') },
  remember: { verb: 'Remember', object: getName },
  forget: { verb: 'Forget', object: getName },
  recall: { verb: 'Recall', object: (args) => textOrEmpty(args['query']) },
  search_sessions: { verb: 'Search conversations', object: (args) => textOrEmpty(args['query']) },
  skill: { verb: 'Read skill', object: getName },
}

/** Returns the item that the agent works on. */
function getCurrentItem(args: Args): string {
  return readTodoItems(args)?.find(({ status }) => status === 'in_progress')?.text ?? ''
}

function inPath(pattern: string, args: Args): string {
  const path = getPath(args)
  return path === '' || path === '.' ? pattern : `${pattern} in ${path}`
}

function formatRange({ offset, limit }: Args): string {
  if (typeof offset !== 'number') return ''
  return typeof limit === 'number' ? `:${offset}-${offset + limit - 1}` : `:${offset}`
}

function getQuestion({ questions }: Args): string {
  const first: unknown = Array.isArray(questions) ? questions[0] : undefined
  return typeof first === 'object' && first !== null && 'question' in first ? textOrEmpty(first.question) : ''
}

/** Returns the server's own name of a tool, derived from the model's name for it (`mcp__<server>__<tool>`). */
function withoutServer(name: string, server: string): string {
  const prefix = `mcp__${server.replaceAll(/[^A-Za-z0-9_-]/g, '_')}__`
  return name.startsWith(prefix) ? name.slice(prefix.length) : name.replace(/^mcp__.*?__/, '')
}

/** The maximum characters that are processed for a line. */
const MAX_CHARS = 2_000

/** Returns the first line, with the number of lines after it. */
function firstLine(text: string): string {
  const lines = cleanText(text.slice(0, MAX_CHARS)).trim().split('\n')
  const more = text.trim().split('\n').length - 1
  return more > 0 ? `${lines[0]} … +${more}` : (lines[0] ?? '')
}

/** Formats arguments of unknown meaning as `name: value`. */
function short(args: Args): string {
  const parts = Object.entries(args).map(([name, value]) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
    return `${name}: ${text.slice(0, MAX_CHARS)}`
  })
  return cleanLine(parts.join(', ').slice(0, MAX_CHARS))
}

/** Returns the value if it is a string, otherwise an empty string. */
export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
