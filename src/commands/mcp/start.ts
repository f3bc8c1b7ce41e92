import { wantsColor } from '../../cli/color.ts'
import type { CommandHandler } from '../../cli/command.ts'
import { formatError } from '../../cli/error-text.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { withProgress } from '../../cli/progress.ts'
import { CrabError, ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { findMcpEntry } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { McpActionKind, type McpActionResult } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { SessionServer } from '../../edge/entries/session-servers.ts'
import { findIdlePatterns } from '../../mcp/entry-facts.ts'
import { attachServers } from './attach-servers.ts'
import { readAgentOption } from './change.ts'
import { printWarning } from './entry-warnings.ts'
import { findFileServer, listFileServers, requireFileEntry } from './file-servers.ts'
import { toJsonTool, toToolRow } from './rows.ts'
import { readAllServers, readServers } from './servers.ts'

/** Runs `crabtalk mcp ping`; exits with the code of the first failure. */
export const pingServersCommand: CommandHandler = async (invocation) => {
  const { options, host } = invocation
  const outcomes = await startAll(invocation, McpActionKind.PING)
  if (options.has('json')) {
    printJson(host, outcomes.map(toJsonPing))
    return toExitCode(outcomes)
  }
  const isAll = options.has('all')
  const rows = outcomes.map((outcome) => [...(isAll ? [outcome.agent] : []), ...toPingRow(outcome)])
  const heads = [...(isAll ? ['AGENT'] : []), 'NAME', 'STATE', 'TOOLS', 'START', 'PING', 'PID']
  if (rows.length > 0) await printTable(host, heads, rows)
  return printFailures(invocation, outcomes)
}

/** Runs `crabtalk mcp tools`; exits with the code of the first failure. */
export const listToolsCommand: CommandHandler = async (invocation) => {
  const { options, host } = invocation
  const outcomes = await startAll(invocation, McpActionKind.TOOLS)
  if (options.has('json')) {
    printJson(
      host,
      outcomes.flatMap(({ name, result }) => result?.tools.map((tool) => toJsonTool(name, tool)) ?? []),
    )
  } else {
    const rows = outcomes.flatMap(({ result }) => result?.tools.map(toToolRow) ?? [])
    if (rows.length > 0) await printTable(host, ['TOOL', 'EFFECT', 'BECAUSE', 'DESCRIPTION'], rows)
  }
  const idle = outcomes.flatMap(({ agent, entry, result }) =>
    findIdlePatterns({ agent, entry, tools: result?.tools }),
  )
  for (const { message, hint } of idle) printWarning(host, message, hint)
  return printFailures(invocation, outcomes)
}

/** The outcome for one server; either `result` or `error` is set. */
interface StartOutcome {
  agent: string
  name: string
  entry: McpEntry
  result?: McpActionResult
  error?: CrabError
}

type Invocation = Parameters<CommandHandler>[0]

function toPingRow({ name, result, error }: StartOutcome): string[] {
  if (!result) return [name, error!.kind, '-', '-', '-', '-']
  const { peer, connectMs, durationMs } = result
  return [name, 'ok', `${peer?.toolCount ?? 0}`, `${connectMs} ms`, `${durationMs} ms`, `${peer?.pid ?? '-'}`]
}

/**
 * Performs an action on the named servers, or on all that are not disabled, concurrently and independently of
 * each other.
 */
async function startAll(
  { options, host, signal }: Invocation,
  action: McpActionKind,
): Promise<StartOutcome[]> {
  await using attached = await attachServers(host, signal)
  const { dispatch } = attached
  const targets = await listTargets(dispatch, { options, host }, signal)
  if (targets.length === 0)
    host.stderr.write('No servers to start; crabtalk mcp catalog lists some to install\n')
  const outcomes = targets.map(async (target): Promise<StartOutcome> => {
    if (target.error) return target
    try {
      const { agent, name, literal = '' } = target
      const message = { agent, name, action, entry: literal }
      return { ...target, result: await request(dispatch, 'mcpAction', message, signal) }
    } catch (reason) {
      return { ...target, error: toCrabError(reason) }
    }
  })
  const names = targets.map(({ name }) => name).join(', ')
  return await withProgress(host, `starting ${names}`, Promise.all(outcomes))
}

/** `literal` is the JSON of a server of a file; `error` is why it cannot be used. */
type Target = Pick<StartOutcome, 'agent' | 'name' | 'entry' | 'error'> & { literal?: string }

async function listTargets(
  dispatch: Dispatch,
  { options, host }: Pick<Invocation, 'options' | 'host'>,
  signal: AbortSignal,
): Promise<Target[]> {
  if (!options.has('all')) return await resolveTargets(dispatch, { options, host }, signal)
  const isScoped = options.value('scope') !== undefined
  if (options.args.length > 0 || options.has('agent') || isScoped) {
    throw new CrabError('usage', 'Cannot combine --all with a name, --agent or --scope', {
      hint: 'give only one of them',
    })
  }
  const { servers } = await readAllServers(dispatch, signal)
  return servers.flatMap(({ agent, entry }) =>
    entry.disabled === true ? [] : [{ agent, name: entry.name, entry }],
  )
}

async function resolveTargets(
  dispatch: Dispatch,
  { options, host }: Pick<Invocation, 'options' | 'host'>,
  signal: AbortSignal,
): Promise<Target[]> {
  const agent = readAgentOption(options)
  const toTarget = (entry: McpEntry): Target => ({ agent, name: entry.name, entry })
  const isScoped = options.value('scope') !== undefined
  if (isScoped && options.args.length === 0) {
    const servers = await listFileServers({ options, host })
    return servers.filter(({ state }) => state !== 'disabled').map((found) => toFileTarget(agent, found))
  }
  const entries = isScoped ? [] : (await readServers(dispatch, agent, signal)).map(({ entry }) => entry)
  if (options.args.length === 0) return entries.filter(({ disabled }) => disabled !== true).map(toTarget)
  const names = [...new Set(options.args)]
  return await Promise.all(
    names.map(async (name) => {
      const found = await findFileServer(name, { options, host }, entries)
      return found ? toFileTarget(agent, found) : toTarget(findMcpEntry(agent, entries, name))
    }),
  )
}

function toFileTarget(agent: string, found: SessionServer): Target {
  const { name } = found.server
  try {
    const entry = requireFileEntry(found)
    return { agent, name, entry, literal: JSON.stringify(entry) }
  } catch (reason) {
    return { agent, name, entry: { name }, error: toCrabError(reason) }
  }
}

/** Prints the errors, and returns the exit code. */
function printFailures({ program, options, host }: Invocation, outcomes: readonly StartOutcome[]): number {
  const style = { program, debug: options.has('debug'), color: wantsColor('auto', host.env, host.stderr) }
  for (const { error } of outcomes) if (error) host.stderr.write(formatError(error, style))
  return toExitCode(outcomes)
}

function toExitCode(outcomes: readonly StartOutcome[]): number {
  const failed = outcomes.find(({ error }) => error !== undefined)?.error
  return failed ? ERROR_KINDS[failed.kind].exit : 0
}

function toJsonPing({ agent, name, result, error }: StartOutcome) {
  return {
    agent,
    name,
    ok: error === undefined,
    tools: result?.peer?.toolCount ?? null,
    pid: result?.peer?.pid ?? null,
    start_ms: result?.connectMs ?? null,
    ping_ms: result?.durationMs ?? null,
    error: error ? { kind: error.kind, message: error.message, hint: error.hint ?? null } : null,
  }
}
