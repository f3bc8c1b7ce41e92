import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { type DroppedTool, type ToolList, toPrintableLine } from '../tools/remote-tool.ts'
import { iterateSubschemas } from '../tools/tool-schema.ts'

/**
 * The tools whose arguments can go along as headers the way their schemas ask for (`x-mcp-header`, MCP 2026-07-28,
 * Streamable HTTP); the others are dropped, as the revision demands of who speaks HTTP.
 */
export function dropUnsendable({ tools, dropped }: ToolList): ToolList {
  const faults = new Map(tools.map((tool) => [tool, headerFault(tool.inputSchema)]))
  const unsendable = tools.flatMap((tool): DroppedTool[] => {
    const why = faults.get(tool)
    return why === undefined ? [] : [{ name: toPrintableLine(tool.name), why }]
  })
  if (unsendable.length === 0) return { tools, dropped }
  return { tools: tools.filter((tool) => !faults.get(tool)), dropped: [...dropped, ...unsendable] }
}

/** Where a part of a schema stands: only what `properties` alone lead to is an argument. */
interface SchemaLocation {
  part: unknown
  isArgument: boolean
}

/** What is wrong with a schema's wishes for headers, as a clause. The schema is one that readToolSchema() took. */
function headerFault(schema: JsonObject): string | undefined {
  const taken = new Set<string>()
  const open: SchemaLocation[] = [{ part: schema, isArgument: true }]
  while (open.length > 0) {
    const { part, isArgument } = open.pop()!
    if (!isObject(part)) continue
    const fault = Object.hasOwn(part, KEYWORD)
      ? findFault(part, isArgument && part !== schema, taken)
      : undefined
    if (fault !== undefined) return fault
    const { properties, ...rest } = part
    for (const child of Object.values(isObject(properties) ? properties : {}))
      open.push({ part: child, isArgument })
    for (const child of iterateSubschemas(rest)) open.push({ part: child, isArgument: false })
  }
  return undefined
}

function findFault({ [KEYWORD]: name, type }: JsonObject, isArgument: boolean, taken: Set<string>) {
  if (!isArgument) return 'it wants a header for what is no plain argument'
  if (typeof name !== 'string' || !TOKEN.test(name)) return 'it wants a header without a valid name'
  if (typeof type !== 'string' || !TYPES.has(type))
    return `it wants a header for an argument of another type than ${[...TYPES].join(', ')}`
  if (taken.has(name.toLowerCase())) return `it wants the header ${name} for two arguments`
  taken.add(name.toLowerCase())
  return undefined
}

const KEYWORD = 'x-mcp-header'
/** RFC 9110 §5.1. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES = new Set(['string', 'integer', 'boolean'])
