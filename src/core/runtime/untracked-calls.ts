import { isObject, parseObject } from '../base/json.ts'
import { sanitizeLine } from '../base/sanitize.ts'
import { takeStart } from '../base/truncate.ts'
import { isReadOnlyLine } from '../policy/read-only/read-only-line.ts'
import type { SessionLine } from '../storage/types.ts'

/**
 * Returns the permitted calls of a session that may have changed files without a backup: command lines that are
 * not known to only read, whatever permitted them, and tools of MCP servers that do not say that they change
 * nothing. Oldest first, without duplicates, at most `most`.
 */
export function untrackedCalls(lines: readonly SessionLine[], most: number): string[] {
  const permitted = new Map<string, string | undefined>()
  const found = new Set<string>()
  for (const line of lines) {
    if (line.kind === 'event' && line.event === 'permission' && line.effect === 'allow') {
      const isHarmless = line.by === 'default' && HARMLESS.test(line.reason)
      if (!isHarmless) permitted.set(line.call_id, line.arguments)
    }
    if (line.kind !== 'entry') continue
    for (const { id, name, arguments: text } of line.tool_calls ?? []) {
      if (!permitted.has(id)) continue
      if (name.startsWith('mcp__')) found.add(name)
      if (name !== 'bash') continue
      const command = readCommand(permitted.get(id) ?? text)
      if (!isReadOnlyLine(command)) found.add(`bash: ${takeStart(sanitizeLine(command), MAX_COMMAND)}`)
    }
  }
  return [...found].slice(0, most)
}

/** The reason of the built-in permission of tools that change nothing. */
const HARMLESS = /changes nothing/

function readCommand(text: string): string {
  const args: unknown = parseObject(text)
  return isObject(args) && typeof args['command'] === 'string' ? args['command'] : text
}

const MAX_COMMAND = 120
