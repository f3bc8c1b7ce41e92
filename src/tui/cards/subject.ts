import { parseObject } from '../../core/base/json.ts'
import { toVisible } from '../../core/base/visible.ts'
import type { PermissionRequest } from '../../core/protocol/crabtalk.generated.ts'

/** What would be done, and to what, not yet made visible. The action is in the words of the server: `bash: ls`, `edit a.txt`. */
export function toSubject({ tool, server, action, arguments: args }: PermissionRequest): {
  verb: string
  what: string
} {
  if (server !== '') return { verb: `use ${tool} of the MCP server ${server}`, what: formatArguments(args) }
  const [, verb, what] = /^(bash|read|edit):? (.*)$/s.exec(action) ?? []
  if (verb === tool || verb === 'edit') return { verb: verb === 'bash' ? 'run' : verb, what: what ?? '' }
  return { verb: `use ${tool}`, what: formatArguments(args) }
}

/** Arguments as a person reads them: one a line, texts of several lines below their name; other text as it is. */
export function formatArguments(args: string): string {
  const object = parseObject(args)
  if (!object) return args
  return Object.entries(object).map(toLine).join('\n')
}

/** A diff without what a terminal may write over: indentation need not be seen as an escape. The last line needs no end. */
export function expandDiffTabs(diff: string): string {
  return diff.replaceAll('\t', '    ').replace(/\n$/, '')
}

/** Text that a person judges, on one line. */
export function escapeLine(text: string): string {
  return toVisible(text).replaceAll('\n', '\\n')
}

function toLine([name, value]: [string, unknown]): string {
  if (typeof value !== 'string' || !value.includes('\n'))
    return `${escapeLine(name)}: ${JSON.stringify(value)}`
  return [`${escapeLine(name)}:`, ...value.split('\n').map((line) => `    ${line}`)].join('\n')
}
