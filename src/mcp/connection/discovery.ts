import { isObject } from '../../core/base/json.ts'
import { readTools, type ToolList } from '../tools/remote-tool.ts'

/**
 * Reads all pages of a server's tools; `page` fetches the one behind a cursor, or the first.
 *
 * A repeated cursor ends the list. An endless list is truncated, which is reported like a dropped tool.
 */
export async function listTools(page: (cursor: string | undefined) => Promise<unknown>): Promise<ToolList> {
  const definitions: unknown[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  do {
    const result = await page(cursor)
    const { tools, nextCursor } = isObject(result) ? result : {}
    if (Array.isArray(tools)) definitions.push(...tools.slice(0, MAX_TOOLS + 1))
    cursor = typeof nextCursor === 'string' && !cursors.has(nextCursor) ? nextCursor : undefined
    if (cursor !== undefined) cursors.add(cursor)
    if (definitions.length > MAX_TOOLS || cursors.size > MAX_PAGES) return cut(definitions)
  } while (cursor !== undefined)
  return readTools(definitions)
}

/** More than any real server has; a model could not choose among them. */
const MAX_TOOLS = 2_000
const MAX_PAGES = 200

function cut(definitions: readonly unknown[]): ToolList {
  const { tools, dropped } = readTools(definitions.slice(0, MAX_TOOLS))
  const rest = { name: 'further tools', why: 'their list does not end' }
  return { tools, dropped: [...dropped, rest] }
}
