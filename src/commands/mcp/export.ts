import type { CommandHandler } from '../../cli/command.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { exportServers } from '../../edge/import/export-formats.ts'
import type { ForeignKind } from '../../edge/import/foreign-kinds.ts'
import { toPortableServer } from '../../edge/import/portable-server.ts'
import { attachServers } from './attach-servers.ts'
import { readAgentOption } from './change.ts'

/** Runs `crabtalk mcp export`. */
export const exportServersCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attachServers(host, signal)
  const agent = await request(attached.dispatch, 'getAgent', { name: readAgentOption(options) }, signal)
  const { mcps = [] }: { mcps?: McpEntry[] } = JSON.parse(agent.config)
  const names = options.args
  const chosen = names.length === 0 ? mcps : names.map((name) => findMcpEntry(agent.name, mcps, name))
  const kind = (options.value('format') ?? 'claude') as ForeignKind
  const { text, notices } = exportServers(chosen.map(toPortableServer), kind)
  host.stdout.write(text)
  await host.stdout.flush() // the notices must appear below it
  for (const notice of notices) host.stderr.write(`crabtalk: ${sanitizeLine(notice)}\n`)
  return 0
}
