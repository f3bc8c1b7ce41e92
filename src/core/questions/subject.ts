import { parseObject } from '../base/json.ts'
import { escapeLine } from '../base/visible.ts'
import type { AskUserEvent, PermissionRequest } from '../protocol/crabtalk.generated.ts'

/**
 * Splits a request into its verb and its subject, which is not escaped yet. The action comes from the
 * runtime: `bash: ls`, `edit a.txt`.
 */
export function toSubject({ tool, server, action, arguments: args }: PermissionRequest): {
  verb: string
  what: string
} {
  if (server !== '') return { verb: `use ${tool} of the MCP server ${server}`, what: formatArguments(args) }
  const [, verb, what] = /^(bash|read|edit):? (.*)$/s.exec(action) ?? []
  if (verb === tool || verb === 'edit') return { verb: verb === 'bash' ? 'run' : verb, what: what ?? '' }
  return { verb: `use ${tool}`, what: formatArguments(args) }
}

/** Describes a question on one line: what the call would do, or the first question; empty when it has none. */
export function toAskLine({ permission, questions }: Pick<AskUserEvent, 'permission' | 'questions'>): string {
  if (!permission) return questions[0]?.question ?? ''
  const { verb, what } = toSubject(permission)
  return `${verb} ${what}`.replaceAll(/\s+/g, ' ').trim()
}

/**
 * Formats arguments for the user: one per line, multi-line texts below their name; text that is not a JSON
 * object stays as it is.
 */
export function formatArguments(args: string): string {
  const object = parseObject(args)
  if (!object) return args
  return Object.entries(object).map(toLine).join('\n')
}

/**
 * Replaces the tabs of a diff with spaces, because tabs would otherwise be shown as escapes, and removes its
 * last line feed.
 */
export function expandDiffTabs(diff: string): string {
  return diff.replaceAll('\t', '    ').replace(/\n$/, '')
}

function toLine([name, value]: [string, unknown]): string {
  if (typeof value !== 'string' || !value.includes('\n'))
    return `${escapeLine(name)}: ${JSON.stringify(value)}`
  return [`${escapeLine(name)}:`, ...value.split('\n').map((line) => `    ${line}`)].join('\n')
}
