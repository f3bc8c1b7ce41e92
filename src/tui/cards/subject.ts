import { parseObject } from '../../core/base/json.ts'
import { toVisible } from '../../core/base/visible.ts'
import type { PermissionRequest } from '../../core/protocol/crabtalk.generated.ts'

/** What would be done, and to what, not yet made visible. The action is in the words of the server: `bash: ls`, `edit a.txt`. */
export function subjectOf({ tool, server, action, arguments: args }: PermissionRequest): {
  verb: string
  what: string
} {
  if (server !== '') return { verb: `use ${tool} of the MCP server ${server}`, what: toLines(args) }
  const [, verb, what] = /^(bash|read|edit):? (.*)$/s.exec(action) ?? []
  if (verb === tool || verb === 'edit') return { verb: verb === 'bash' ? 'run' : verb, what: what ?? '' }
  return { verb: `use ${tool}`, what: toLines(args) }
}

/** Arguments as a person reads them: one a line, texts of several lines below their name; other text as it is. */
export function toLines(args: string): string {
  const object = parseObject(args)
  if (!object) return args
  return Object.entries(object).map(toLine).join('\n')
}

/** A diff without what a terminal may write over: indentation need not be seen as an escape. The last line needs no end. */
export function spaced(diff: string): string {
  return diff.replaceAll('\t', '    ').replace(/\n$/, '')
}

/** Text that a person judges, on one line. */
export function visibleLine(text: string): string {
  return toVisible(text).replaceAll('\n', '\\n')
}

function toLine([name, value]: [string, unknown]): string {
  if (typeof value !== 'string' || !value.includes('\n'))
    return `${visibleLine(name)}: ${JSON.stringify(value)}`
  return [`${visibleLine(name)}:`, ...value.split('\n').map((line) => `    ${line}`)].join('\n')
}
