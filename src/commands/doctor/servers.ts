import {
  type Check,
  type CheckContext,
  type CheckResult,
  note,
  ok,
  problem,
  warning,
} from '../../cli/check.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { findProgram } from '../../core/process/find-program.ts'
import { McpActionKind } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { findIdleListedRules } from '../../daemon/idle-rules/find-idle-rules.ts'
import { findIdlePatterns, validateEntry } from '../../mcp/entry-facts.ts'
import { readKnownServers } from '../mcp/servers.ts'
import { readInstalledNames } from '../written-rules.ts'

type Entry = CheckContext['agents'][number]['mcps'][number]

/** Checks that the programs of declared servers exist and, with --deep, that the servers start. */
export const checkServers: Check = async (context, signal) => {
  const declared = context.agents.flatMap(({ name, mcps }) => mcps.map((entry) => ({ agent: name, entry })))
  if (declared.length === 0) return [note('no agent has an MCP server')]
  const checkServer = context.deep
    ? await openServerCheck(context, signal)
    : (agent: string, entry: Entry) => checkServerProgram(agent, entry, context)
  const findings = await Promise.all(declared.map(({ agent, entry }) => checkServer(agent, entry)))
  return [...findings, ...(await patternFindings(context, signal))]
}

/**
 * Finds patterns of entries, rules and names in `tools` that match no tool, as far as the servers have listed theirs,
 * now or before.
 */
async function patternFindings({ host, paths }: CheckContext, signal: AbortSignal): Promise<CheckResult[]> {
  const servers = await readKnownServers(host, signal)
  const ofEntries = servers.flatMap(findIdlePatterns)
  const listed = servers.flatMap(({ agent, entry, tools }) =>
    tools ? [{ agent, name: entry.name, tools: tools.map(({ remoteName }) => remoteName) }] : [],
  )
  const known = { paths, installed: readInstalledNames(paths) }
  const ofRules = (await findIdleListedRules(known, listed)).map(({ source, message, hint }) => ({
    message: `${source}: ${message}`,
    hint,
  }))
  return [...ofEntries, ...ofRules].map(({ message, hint }) => warning(message, hint))
}

type CheckServer = (agent: string, entry: Entry) => Promise<CheckResult>

async function checkServerProgram(
  agent: string,
  entry: Entry,
  { host, paths }: CheckContext,
): Promise<CheckResult> {
  const { name, command, cwd = paths.home, disabled } = entry
  const what = `${name} of ${agent}`
  if (disabled) return note(`${what} is disabled`)
  if (command === undefined) {
    const flaw = validateEntry(entry, paths.home)
    return flaw
      ? problem(`${what}: ${flaw.message}`, flaw.hint)
      : note(`${what} is remote; --deep connects to it`)
  }
  try {
    const env = { PATH: host.env['PATH'] ?? '', ...entry.env }
    const folder = cwd === paths.home ? host.cwd() : cwd // the home may not exist yet
    return ok(`${what}: ${await findProgram({ argv: [command], cwd: folder, env })}`)
  } catch (reason) {
    const { message, hint } = toCrabError(reason)
    return problem(`${what}: ${message}`, hint)
  }
}

async function openServerCheck({ host }: CheckContext, signal: AbortSignal): Promise<CheckServer> {
  const { attach } = await import('../../daemon/attach.ts')
  return async (agent, { name, disabled }) => {
    const what = `${name} of ${agent}`
    if (disabled) return note(`${what} is disabled`)
    try {
      await using attached = await attach(host)
      const message = { agent, name, action: McpActionKind.PING }
      const { peer, connectMs } = await request(attached.dispatch, 'mcpAction', message, signal)
      return ok(`${what} started in ${connectMs} ms, ${peer?.toolCount ?? 0} tools`)
    } catch (reason) {
      const { message, hint } = toCrabError(reason)
      return problem(`${what}: ${message}`, hint ?? `see crabtalk mcp get ${name} -a ${agent}`)
    }
  }
}
