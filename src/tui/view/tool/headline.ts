import { parseObject } from '../../../core/base/json.ts'
import type { ToolRun } from '../../state/types.ts'
import { cleanLine, cleanText } from '../clean.ts'
import { textOf } from './arguments.ts'

/** A call in words: what it does, and with what. Clean, each on one line. */
export interface Headline {
  verb: string
  object: string
}

/** What a call does, for its line. */
export function headlineOf({ name, server, arguments: json }: ToolRun): Headline {
  const args = parseObject(json) ?? {} // half an object, while it is written
  if (server !== '')
    return { verb: `${cleanLine(server)} · ${cleanLine(withoutServer(name, server))}`, object: short(args) }
  const known = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined
  if (!known) return { verb: cleanLine(name), object: short(args) }
  return { verb: known.verb, object: firstLine(known.object(args)) }
}

type Args = Readonly<Record<string, unknown>>

const pathOf = (args: Args) => textOf(args['path'])
const nameOf = (args: Args) => textOf(args['name'])

const BUILT_IN: Record<string, { verb: string; object: (args: Args) => string }> = {
  bash: { verb: 'Run', object: (args) => textOf(args['command']) },
  read: { verb: 'Read', object: (args) => pathOf(args) + rangeOf(args) },
  write: { verb: 'Write', object: pathOf },
  edit: { verb: 'Edit', object: pathOf },
  glob: { verb: 'Find', object: (args) => inPath(textOf(args['pattern']), args) },
  grep: { verb: 'Search', object: (args) => inPath(textOf(args['pattern']), args) },
  ask_user: { verb: 'Ask', object: questionOf },
  remember: { verb: 'Remember', object: nameOf },
  forget: { verb: 'Forget', object: nameOf },
  recall: { verb: 'Recall', object: (args) => textOf(args['query']) },
  search_sessions: { verb: 'Search conversations', object: (args) => textOf(args['query']) },
  skill: { verb: 'Read skill', object: nameOf },
}

function inPath(pattern: string, args: Args): string {
  const path = pathOf(args)
  return path === '' || path === '.' ? pattern : `${pattern} in ${path}`
}

function rangeOf({ offset, limit }: Args): string {
  if (typeof offset !== 'number') return ''
  return typeof limit === 'number' ? `:${offset}-${offset + limit - 1}` : `:${offset}`
}

function questionOf({ questions }: Args): string {
  const first: unknown = Array.isArray(questions) ? questions[0] : undefined
  return typeof first === 'object' && first !== null && 'question' in first ? textOf(first.question) : ''
}

/** The server's own name of a tool, as far as the one that the model uses (`mcp__<server>__<tool>`) tells. */
function withoutServer(name: string, server: string): string {
  const prefix = `mcp__${server.replaceAll(/[^A-Za-z0-9_-]/g, '_')}__`
  return name.startsWith(prefix) ? name.slice(prefix.length) : name.replace(/^mcp__.*?__/, '')
}

/** Longest text that is looked at for a line. */
const MAX_CHARS = 2_000

/** The first line, with the number of those behind it. */
function firstLine(text: string): string {
  const lines = cleanText(text.slice(0, MAX_CHARS)).trim().split('\n')
  const more = text.trim().split('\n').length - 1
  return more > 0 ? `${lines[0]} … +${more}` : (lines[0] ?? '')
}

/** Arguments nobody knows the meaning of: texts and numbers as `name: value`. */
function short(args: Args): string {
  const parts = Object.entries(args).map(([name, value]) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
    return `${name}: ${text.slice(0, MAX_CHARS)}`
  })
  return cleanLine(parts.join(', ').slice(0, MAX_CHARS))
}
