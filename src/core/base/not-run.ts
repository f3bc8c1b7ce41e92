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

/** The results of questions that got no answer, by the reason. Stored conversations have them. */
export const UNANSWERED_RESULTS = {
  declined: 'The user chose not to answer. Continue without it, or say what you need.',
  denied: 'No one is there to answer. Choose what is safest, say what you assumed, and do not ask again.',
  timeout: 'The user did not answer in time. Choose what is safest, and say what you assumed.',
} as const

/** Whether a call of `ask_user` got no answer, which is not a failure of the tool. */
export function isUnanswered(name: string, output: string): boolean {
  return name === 'ask_user' && Object.values<string>(UNANSWERED_RESULTS).includes(output)
}
