import type { CommandHandler } from '../../cli/command.ts'
import { printJson } from '../../cli/print.ts'
import { withProgress } from '../../cli/progress.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { pluralize } from '../../core/base/format.ts'
import { McpActionKind } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { readAgentOption } from './change.ts'

/**
 * Runs `crabtalk mcp reconnect`: ends the daemon's process or connection for a server, and starts a new one.
 */
export const reconnectServerCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await requireDaemon(host, { task: 'reconnect MCP servers' }, signal)
  const [name = ''] = options.args
  const message = { agent: readAgentOption(options), name, action: McpActionKind.RECONNECT }
  const reconnecting = request(attached.dispatch, 'mcpAction', message, signal)
  const { peer } = await withProgress(host, `reconnecting ${name}`, reconnecting)
  const { toolCount = 0, pid, owners = [] } = peer ?? {}
  if (options.has('json')) {
    return printJson(host, { agent: message.agent, name, tools: toolCount, pid: pid ?? null, owners })
  }
  const where = pid === undefined ? '' : `, pid ${pid}`
  const others =
    owners.length > 1 ? `, for ${pluralize(new Set(owners.map(({ agent }) => agent)).size, 'agent')}` : ''
  host.stdout.write(`reconnected ${name}: ${pluralize(toolCount, 'tool')}${where}${others}\n`)
  return 0
}
