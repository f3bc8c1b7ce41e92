import { isObject, parseObject } from '../base/json.ts'
import { sanitizeLine } from '../base/sanitize.ts'
import { takeStart } from '../base/truncate.ts'
import type { SessionLine } from '../storage/types.ts'

/**
 * Returns the permitted calls of a session that may have changed files without a backup: command lines that are
 * not known to only read, and tools of MCP servers. Oldest first, without duplicates, at most `most`.
 */
export function untrackedCalls(lines: readonly SessionLine[], most: number): string[] {
  const permitted = new Set<string>()
  const found = new Set<string>()
  for (const line of lines) {
    if (line.kind === 'event' && line.event === 'permission' && line.effect === 'allow') {
      const isTracked = line.by === 'default' && READS.test(line.reason)
      if (!isTracked) permitted.add(line.call_id)
    }
    if (line.kind !== 'entry') continue
    for (const { id, name, arguments: text } of line.tool_calls ?? []) {
      if (!permitted.has(id)) continue
      if (name === 'bash') found.add(`bash: ${formatCommand(text)}`)
      else if (name.startsWith('mcp__')) found.add(name)
    }
  }
  return [...found].slice(0, most)
}

/** The reasons of the built-in permission of command lines and tools that change nothing. */
const READS = /only reads? in|changes nothing/

function formatCommand(text: string): string {
  const args: unknown = parseObject(text)
  const command = isObject(args) && typeof args['command'] === 'string' ? args['command'] : text
  return takeStart(sanitizeLine(command), MAX_COMMAND)
}

const MAX_COMMAND = 120
