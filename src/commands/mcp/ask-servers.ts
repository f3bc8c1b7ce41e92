import { wantsColor } from '../../cli/color.ts'
import type { CommandHandler } from '../../cli/command.ts'
import { formatError } from '../../cli/error-text.ts'
import { withProgress } from '../../cli/progress.ts'
import { type CrabError, ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import type { McpActionKind, McpActionResult } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attachServers } from './attach-servers.ts'
import { readAgentOption } from './change.ts'
import { readServers } from './servers.ts'

/** The answer of one server. */
export interface ServerAnswer {
  server: string
  result: McpActionResult
}

type Invocation = Parameters<CommandHandler>[0]

/**
 * Sends an action to the named server, or to all servers of the agent that are not disabled, concurrently.
 * Prints the error of each one that failed, and returns the exit code of the first of them.
 */
export async function askServers(
  { program, options, host, signal }: Invocation,
  { action, doing }: { action: McpActionKind; doing: string },
): Promise<{ answers: ServerAnswer[]; exitCode: number }> {
  await using attached = await attachServers(host, signal)
  const { dispatch } = attached
  const agent = readAgentOption(options)
  const entries = (await readServers(dispatch, agent, signal)).map(({ entry }) => entry)
  const [name] = options.args
  const targets =
    name === undefined
      ? entries.filter(({ disabled }) => disabled !== true)
      : [findMcpEntry(agent, entries, name)]
  const answering = targets.map(async (entry): Promise<ServerAnswer | CrabError> => {
    try {
      return {
        server: entry.name,
        result: await request(dispatch, 'mcpAction', { agent, name: entry.name, action }, signal),
      }
    } catch (reason) {
      return toCrabError(reason)
    }
  })
  const outcomes = await withProgress(host, doing, Promise.all(answering))
  const style = { program, debug: options.has('debug'), color: wantsColor('auto', host.env, host.stderr) }
  let exitCode = 0
  for (const outcome of outcomes) {
    if ('result' in outcome) continue
    exitCode ||= ERROR_KINDS[outcome.kind].exit
    host.stderr.write(formatError(outcome, style))
  }
  return { answers: outcomes.filter((outcome) => 'result' in outcome), exitCode }
}
