import { parseObject } from '../../core/base/json.ts'
import { toVisible } from '../../core/base/visible.ts'
import type { PermissionRequest } from '../../core/protocol/crabtalk.generated.ts'
import { type Paint, paint } from '../color.ts'
import { fact, quote, type Style, wrapped } from './layout.ts'

/** Rows that are shown of what would be done, and of a diff, before a person asks for all. */
const MOST_ROWS = 40
const MOST_DIFF_ROWS = 60
const MOST_WHY_ROWS = 3

/** What a person reads before permitting a tool call; every line ends. With `whole` nothing is left out. */
export function permissionCard(
  request: PermissionRequest,
  { agent, style, whole = false }: { agent: string; style: Style; whole?: boolean },
): string {
  const { verb, what } = subjectOf(request)
  const { cwd, diff, reason, rules } = request
  const most = (rows: number) => (whole ? Number.POSITIVE_INFINITY : rows)
  const title = `${inLine(agent)} wants to ${inLine(verb)}`
  const lines = [
    `crabtalk: ${paint(title, 'bold', style.color)}`,
    ...quote(toVisible(what), { style, most: most(MOST_ROWS) }),
    ...(diff === '' ? [] : quote(toVisible(spaced(diff)), { style, most: most(MOST_DIFF_ROWS), tint })),
    ...fact('in', toVisible(cwd), style),
    ...fact('why', wrapped(toVisible(reason), { columns: style.columns, most: most(MOST_WHY_ROWS) }), style),
    ...rules.flatMap((rule) => fact('rule', toVisible(rule), style)),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/** What would be done, and to what. The action is in the words of the server: `bash: ls`, `edit a.txt`. */
function subjectOf({ tool, server, action, arguments: args }: PermissionRequest): {
  verb: string
  what: string
} {
  if (server !== '') return { verb: `use ${tool} of the MCP server ${server}`, what: toLines(args) }
  const [, verb, what] = /^(bash|read|edit):? (.*)$/s.exec(action) ?? []
  if (verb === tool || verb === 'edit') return { verb: verb === 'bash' ? 'run' : verb, what: what ?? '' }
  return { verb: `use ${tool}`, what: toLines(args) }
}

/** Arguments as a person reads them: one a line, texts of several lines below their name. */
function toLines(args: string): string {
  const object = parseObject(args)
  if (!object) return args
  return Object.entries(object).map(toLine).join('\n')
}

function toLine([name, value]: [string, unknown]): string {
  if (typeof value !== 'string' || !value.includes('\n')) return `${inLine(name)}: ${JSON.stringify(value)}`
  return [`${inLine(name)}:`, ...value.split('\n').map((line) => `    ${line}`)].join('\n')
}

/** The first two lines of a diff name the file. */
function tint(line: string, at: number): Paint | undefined {
  return at < 2 && /^(---|\+\+\+) /.test(line) ? 'dim' : TINTS.get(line.slice(0, 1))
}

const TINTS: ReadonlyMap<string, Paint> = new Map([
  ['+', 'green'],
  ['-', 'red'],
  ['@', 'cyan'],
])

/** A tab may make a terminal write over what is there; indentation need not be seen as an escape. The last line needs no end. */
function spaced(text: string): string {
  return text.replaceAll('\t', '    ').replace(/\n$/, '')
}

function inLine(text: string): string {
  return toVisible(text).replaceAll('\n', '\\n')
}
