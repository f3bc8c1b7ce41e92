import type { JsonObject } from '../base/message.ts'
import type { SessionLine } from './types.ts'

/**
 * Validates a parsed line of a session file and completes it with defaults.
 *
 * Returns the reason as a string when the line is unusable, and undefined when it was written by a newer
 * build, which is not an error. Keeps unknown keys. Modifies and returns `line` itself.
 */
export function toSessionLine(line: JsonObject): SessionLine | string | undefined {
  const kind = line['kind']
  if (typeof kind !== 'string') return 'it has no kind'
  const shape = SHAPES.get(kind === 'event' ? `event ${line['event']}` : kind)
  if (!shape) return undefined
  for (const [key, value] of shape.defaults) line[key] ??= value
  for (const [key] of shape.optional) if (line[key] === null) delete line[key]
  return isUsable(line, shape) ? line : `it is not a usable ${kind}`
}

type Check = (value: unknown) => boolean

/** The fields of a kind of line. */
interface Shape {
  /** Required scalars with their defaults; the default also determines the type. */
  defaults: readonly (readonly [string, string | number | boolean])[]
  optional: readonly (readonly [string, Check])[]
  /** Checks fields that depend on each other. */
  check?: (line: JsonObject) => boolean
}

const isString: Check = (value) => typeof value === 'string'
const isBoolean: Check = (value) => typeof value === 'boolean'
const isNumber: Check = (value) => typeof value === 'number'
const isListOfStrings: Check = (value) => Array.isArray(value) && value.every(isString)

const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  [
    'entry',
    {
      defaults: [['content', '']],
      optional: [
        ['typed', isString],
        ['attachments', checkList({ media_type: isString, data: isString })],
        ['reasoning', checkList({ text: isString })],
        ['tool_calls', checkList({ id: isString, name: isString, arguments: isString })],
        ['tool_call_id', isString],
        ['name', isString],
        ['is_error', isBoolean],
        ['introduces', isListOfStrings],
        ['agent', isString],
        ['stop_reason', isString],
      ],
      check: hasRole,
    },
  ],
  ['event tool_start', { defaults: texts('call_id', 'name'), optional: [] }],
  [
    'event tool_result',
    {
      defaults: [
        ['call_id', ''],
        ['duration_ms', 0],
        ['is_error', false],
      ],
      optional: [
        ['files', checkList({ path: isString, version: isString })],
        ['server', isString],
        ['tool', isString],
      ],
    },
  ],
  [
    'event permission',
    {
      defaults: texts('call_id', 'name', 'effect', 'by', 'reason'),
      optional: [
        ['rule', isString],
        ['source', isString],
        ['grant', isString],
        ['rules', isListOfStrings],
        ['arguments', isString],
        ['server', isString],
        ['tool', isString],
      ],
    },
  ],
  [
    'event done',
    {
      defaults: texts('model', 'stop_reason'),
      optional: [
        ['usage', isUsage],
        ['context_tokens', isNumber],
      ],
    },
  ],
  [
    'event rewound',
    {
      defaults: [
        ['to', 0],
        ['messages', 0],
      ],
      optional: [['first', isBoolean]],
    },
  ],
  ['event compaction_undone', { defaults: texts('archive_name'), optional: [] }],
  ['event user_steered', { defaults: texts('content'), optional: [] }],
  [
    'event undone',
    { defaults: texts('run_id'), optional: [['files', checkList({ path: isString, outcome: isString })]] },
  ],
  ['event grants_removed', { defaults: [], optional: [['rules', isListOfStrings]] }],
  ['event tools_used', { defaults: [], optional: [['tools', isListOfStrings]] }],
  ['compact', { defaults: texts('archive_name', 'archived_at', 'title'), optional: [['from', isNumber]] }],
  [
    'meta',
    {
      defaults: [],
      optional: [
        ['title', isString],
        ['summary', isString],
        ['cwd', isString],
        ['model', isString],
        ['effort', isString],
        ['activated_at', isString],
      ],
    },
  ],
])

function isUsable(line: JsonObject, shape: Shape): line is JsonObject & SessionLine {
  return (
    shape.defaults.every(([key, value]) => typeof line[key] === typeof value) &&
    shape.optional.every(([key, check]) => line[key] === undefined || check(line[key])) &&
    (shape.check?.(line) ?? true)
  )
}

/**
 * Requires the call id of a tool result: a provider rejects a whole conversation with one result that answers
 * no call.
 */
function hasRole({ role, tool_call_id }: JsonObject): boolean {
  return role === 'user' || role === 'assistant' || (role === 'tool' && tool_call_id !== undefined)
}

function isUsage(value: unknown): boolean {
  return hasFields(value, {
    input: isNumber,
    output: isNumber,
    cache_read: isNumber,
    cache_write: isNumber,
    reasoning: isNumber,
  })
}

function checkList(fields: Record<string, Check>): Check {
  return (value) => Array.isArray(value) && value.every((item) => hasFields(item, fields))
}

function hasFields(value: unknown, fields: Record<string, Check>): boolean {
  if (typeof value !== 'object' || value === null) return false
  const object: JsonObject = { ...value }
  return Object.entries(fields).every(([key, check]) => check(object[key]))
}

function texts(...keys: string[]): [string, string][] {
  return keys.map((key) => [key, ''])
}
