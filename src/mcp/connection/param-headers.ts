import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { DroppedTool, ToolList } from '../tools/remote-tool.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import { iterateSubschemas } from '../tools/tool-schema.ts'

/**
 * Drops the tools whose arguments cannot be sent as headers the way their schemas ask for (`x-mcp-header`,
 * MCP 2026-07-28, Streamable HTTP), as the revision requires of HTTP clients.
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

/** A part of a schema and whether it is an argument: only a part reached through `properties` alone is one. */
interface SchemaLocation {
  part: unknown
  isArgument: boolean
}

/**
 * Returns what is wrong with the header annotations of a schema, as a clause. The schema has passed
 * readToolSchema().
 */
function headerFault(schema: JsonObject): string | undefined {
  const usedNames = new Set<string>()
  const open: SchemaLocation[] = [{ part: schema, isArgument: true }]
  while (open.length > 0) {
    const { part, isArgument } = open.pop()!
    if (!isObject(part)) continue
    const fault = Object.hasOwn(part, KEYWORD)
      ? findFault(part, isArgument && part !== schema, usedNames)
      : undefined
    if (fault !== undefined) return fault
    const { properties, ...rest } = part
    for (const child of Object.values(isObject(properties) ? properties : {}))
      open.push({ part: child, isArgument })
    for (const child of iterateSubschemas(rest)) open.push({ part: child, isArgument: false })
  }
  return undefined
}

function findFault({ [KEYWORD]: name, type }: JsonObject, isArgument: boolean, usedNames: Set<string>) {
  if (!isArgument) return 'it asks for a header for something that is not a plain argument'
  if (typeof name !== 'string' || !TOKEN.test(name)) return 'it asks for a header without a valid name'
  if (typeof type !== 'string' || !TYPES.has(type))
    return `it asks for a header for an argument whose type is not one of ${[...TYPES].join(', ')}`
  if (usedNames.has(name.toLowerCase())) return `it asks for the header ${name} for two arguments`
  usedNames.add(name.toLowerCase())
  return undefined
}

const KEYWORD = 'x-mcp-header'
/** RFC 9110, section 5.1. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES = new Set(['string', 'integer', 'boolean'])
