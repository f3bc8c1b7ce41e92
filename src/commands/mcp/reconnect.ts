import { wantsColor } from '../../cli/color.ts'
import type { CommandHandler } from '../../cli/command.ts'
import { formatError } from '../../cli/error-text.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { withProgress } from '../../cli/progress.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { McpActionKind, type McpActionResult, McpPeerState } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { readAgentOption } from './change.ts'
import { readFileEntry } from './file-servers.ts'

/**
 * Runs `crabtalk mcp reconnect`: ends the daemon's process or connection for a server, and starts a new one;
 * without a name, for all servers of the agent that have failed. Exits as the first failure does.
 */
export const reconnectServerCommand: CommandHandler = async ({ program, options, host, signal }) => {
  await using attached = await requireDaemon(host, { task: 'reconnect MCP servers' }, signal)
  const { dispatch } = attached
  const agent = readAgentOption(options)
  const [name] = options.args
  const names = name === undefined ? await findFailed(dispatch, agent, signal) : [name]
  if (names.length === 0) host.stderr.write(`No server of ${agent} has failed\n`)
  const reconnect = async (one: string) => {
    const entry =
      name === undefined ? '' : await readFileEntry(dispatch, { agent, name, options, host }, signal)
    const message = { agent, name: one, entry, action: McpActionKind.RECONNECT }
    return { name: one, ...(await request(dispatch, 'mcpAction', message, signal)) }
  }
  const outcomes = Promise.allSettled(names.map(reconnect))
  const settled = await withProgress(host, `reconnecting ${names.join(', ')}`, outcomes)
  const done = settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const errors = settled.flatMap((one) => (one.status === 'rejected' ? toCrabError(one.reason) : []))
  if (name !== undefined && errors[0]) throw errors[0]
  const rows = done.map((one) => toRow(agent, one))
  if (options.has('json')) printJson(host, name === undefined ? rows : rows[0])
  else for (const one of done) printReconnected(host, one)
  const style = { program, debug: options.has('debug'), color: wantsColor('auto', host.env, host.stderr) }
  for (const error of errors) host.stderr.write(formatError(error, style))
  return errors[0] ? ERROR_KINDS[errors[0].kind].exit : 0
}

async function findFailed(dispatch: Dispatch, agent: string, signal: AbortSignal): Promise<string[]> {
  const { agents } = await request(dispatch, 'mcpView', { agent }, signal)
  const failed = agents.flatMap(({ servers }) => servers).filter(({ state }) => FAILED.has(state))
  return failed.map(({ name }) => name)
}

const FAILED: ReadonlySet<McpPeerState> = new Set([McpPeerState.FAILED, McpPeerState.NEEDS_AUTH])

type Reconnected = McpActionResult & { name: string }

function toRow(agent: string, { name, peer }: Reconnected) {
  const { toolCount = 0, pid, owners = [] } = peer ?? {}
  return { agent, name, tools: toolCount, pid: pid ?? null, owners }
}

function printReconnected(host: Host, { name, peer }: Reconnected): void {
  const { toolCount = 0, pid, owners = [] } = peer ?? {}
  const where = pid === undefined ? '' : `, pid ${pid}`
  const others =
    owners.length > 1 ? `, for ${pluralize(new Set(owners.map(({ agent }) => agent)).size, 'agent')}` : ''
  host.stdout.write(`reconnected ${name}: ${pluralize(toolCount, 'tool')}${where}${others}\n`)
}
