/** The result of a tool call that never ran, because its turn was cancelled first. Stored conversations have it. */
export const NOT_RUN_RESULT = 'Not run: the turn was cancelled first.'

/**
 * Whether a failed call of a built-in tool never ran. The text decides, because nothing else is stored; calls of
 * MCP servers never count, because a server can return the same text.
 */
export function isNotRun(name: string, output: string): boolean {
  return !name.startsWith('mcp__') && (output === NOT_RUN_RESULT || output === OLDER_RESULT)
}

/** The text of earlier versions. */
const OLDER_RESULT = 'Not run: the turn was cancelled before.'
