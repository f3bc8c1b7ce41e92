import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { withProgress } from '../../cli/progress.ts'
import { CrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import { findMcpEntry, portFileError } from '../../core/config/mcp-declaration.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { McpActionKind } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { Attached } from '../../daemon/attach.ts'
import { attachServers } from './attach-servers.ts'
import { changeEntry, readNewServers, readWholeEntry } from './entry.ts'
import { listEntryWarnings, printWarning } from './entry-warnings.ts'
import { readServers } from './servers.ts'

/** Runs `crabtalk mcp add`. */
export const addServerCommand: CommandHandler = async (invocation) => {
  const { options, host, signal } = invocation
  if (isScoped(options)) return (await import('./scoped.ts')).addScopedServerCommand(invocation)
  const servers = await readNewServers(options, host)
  for (const { notices = [] } of servers)
    for (const notice of notices) host.stderr.write(`crabtalk: ${sanitize(notice)}\n`)
  await using attached = await attachServers(host, signal)
  const added: JsonObject[] = []
  for (const { entry, paths, bare = [], used = [] } of servers) {
    const tools = await writeEntry(attached, { options, host, entry, create: true, bare }, signal)
    added.push(toChange(options, entry, tools))
    if (options.has('json')) continue
    host.stdout.write(`added ${entry['name']}${formatToolCount(tools)}\n`)
    for (const [word, path] of paths) host.stdout.write(`  ${word} is ${path}\n`)
    for (const name of used) host.stdout.write(`  ${name} is the value of this shell\n`)
  }
  if (options.has('json')) printJson(host, added.length === 1 ? added[0] : added)
  return 0
}

/** Runs `crabtalk mcp set`. */
export const setServerCommand: CommandHandler = async (invocation) => {
  const { options, host, signal } = invocation
  if (isScoped(options)) return (await import('./scoped.ts')).setScopedServerCommand(invocation)
  const whole = await readWholeEntry(options, host)
  await using attached = await attachServers(host, signal)
  const agent = await request(attached.dispatch, 'getAgent', { name: readAgentOption(options) }, signal)
  const { mcps = [] }: { mcps?: JsonObject[] } = JSON.parse(agent.config)
  const name = options.args[0] ?? ''
  if (mcps.every((one) => one['name'] !== name))
    await refuseComponent(attached, { agent: agent.name, name }, signal)
  const before = findMcpEntry(agent.name, mcps, name)
  const entry = changeEntry(before, { options, host, whole })
  const tools = await writeEntry(attached, { options, host, entry, create: false }, signal)
  if (options.has('json')) return printJson(host, toChange(options, entry, tools))
  host.stdout.write(`changed ${entry['name']}${formatToolCount(tools)}\n`)
  return 0
}

/** Runs `crabtalk mcp remove`. */
export const removeServerCommand: CommandHandler = async (invocation) => {
  const { options, host, signal } = invocation
  if (isScoped(options)) return (await import('./scoped.ts')).removeScopedServerCommand(invocation)
  await using attached = await attachServers(host, signal)
  const name = options.args[0] ?? ''
  await request(attached.dispatch, 'deleteMcp', { agent: readAgentOption(options), name }, signal)
  if (options.has('json')) return printJson(host, { agent: readAgentOption(options), name })
  host.stdout.write(`removed ${name}\n`)
  return 0
}

/** Runs `crabtalk mcp enable`. */
export const enableServerCommand: CommandHandler = async (invocation) => {
  const { options, host, signal } = invocation
  if (isScoped(options)) return (await import('./scoped.ts')).enableScopedServerCommand(invocation)
  return await switchServer({ options, host, action: McpActionKind.ENABLE, done: 'enabled' }, signal)
}

/** Runs `crabtalk mcp disable`. */
export const disableServerCommand: CommandHandler = async (invocation) => {
  const { options, host, signal } = invocation
  if (isScoped(options)) return (await import('./scoped.ts')).disableScopedServerCommand(invocation)
  return await switchServer({ options, host, action: McpActionKind.DISABLE, done: 'disabled' }, signal)
}

/** Whether a command is about a mcp.toml and not about an agent. */
function isScoped(options: ParsedOptions): boolean {
  return options.value('scope') !== undefined
}

/** Returns the agent whose servers a command is about. */
export function readAgentOption(options: ParsedOptions): string {
  return options.value('agent') ?? DEFAULT_AGENT
}

/**
 * Returns the agent to view; empty for all agents. Throws `usage` for --all together with a name or --agent.
 */
export function readViewedAgent(options: ParsedOptions): string {
  if (!options.has('all')) return readAgentOption(options)
  if (options.value('agent') === undefined && options.args.length === 0) return ''
  throw new CrabError('usage', 'Cannot combine --all with a name or --agent', {
    hint: 'give only one of them',
  })
}

/** Throws when a server comes from a port file and not from the agent's file, and says so. */
async function refuseComponent(
  { dispatch }: Attached,
  { agent, name }: { agent: string; name: string },
  signal: AbortSignal,
): Promise<void> {
  const servers = await readServers(dispatch, agent, signal)
  if (servers.some(({ entry }) => entry.name === name)) {
    throw portFileError(`Cannot set the server "${name}"`, agent, name)
  }
}

interface WriteRequest {
  options: ParsedOptions
  host: Host
  entry: JsonObject
  create: boolean
  /** The words that may be meant as paths. */
  bare?: readonly string[]
  /** Whether the server cannot start yet, so that its entry is written without a start. */
  skipsStart?: boolean
}

/**
 * Writes an entry, by default only after its server has started; returns the number of tools that it had
 * then.
 */
export async function writeEntry(
  { dispatch }: Attached,
  { options, host, entry, create, bare = [], skipsStart = false }: WriteRequest,
  signal: AbortSignal,
): Promise<number | undefined> {
  const verify = !skipsStart && !options.has('no-verify') && entry['disabled'] !== true
  const message = { agent: readAgentOption(options), config: JSON.stringify(entry), verify, create }
  const writing = request(dispatch, 'upsertMcp', message, signal).catch((reason) =>
    explainRefusal({ entry, create, bare }, reason),
  )
  const { toolCount } = await withProgress(host, `starting ${entry['name']}`, writing)
  // it was accepted, so it is a valid entry
  const written = { agent: readAgentOption(options), entry: entry as McpEntry }
  for (const { message, hint } of listEntryWarnings(written)) printWarning(host, message, hint)
  return verify ? toolCount : undefined
}

type RefusedEntry = Required<Pick<WriteRequest, 'entry' | 'create' | 'bare'>>

/** Adds advice to the error of a server that cannot be started, and a valid name to that of an invalid name. */
function explainRefusal({ entry, create, bare }: RefusedEntry, reason: unknown): never {
  const { name } = entry
  if (reason instanceof CrabError && /: "name" must be /.test(reason.message)) {
    const near = String(name)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 32)
    throw new CrabError(reason.kind, reason.message, near === '' ? {} : { hint: `for example ${near}` })
  }
  if (!(reason instanceof CrabError)) throw reason
  const { kind, message } = reason
  if (create && kind === 'config')
    throw new CrabError(kind, message, { cause: reason, hint: 'nothing was written' })
  if (!NOT_STARTED.has(kind)) throw reason
  const advice = findAdvice(entry, bare) ?? reason.hint
  const hint = `${advice === undefined ? '' : `${advice}; `}nothing was written; use --no-verify to write it unchecked`
  throw new CrabError(reason.kind, reason.message, { cause: reason, hint })
}

/** Returns advice about words that may describe the server wrongly. */
function findAdvice({ command, args }: JsonObject, [bare]: readonly string[]): string | undefined {
  const isOneWord = typeof command === 'string' && /\S\s+\S/.test(command) && args === undefined
  if (isOneWord) return 'write the command as separate words, without quotes around all of them'
  return bare === undefined
    ? undefined
    : `write ./${bare} if you mean the path in this directory: servers run in another one`
}

async function switchServer(
  {
    options,
    host,
    action,
    done,
  }: { options: ParsedOptions; host: Host; action: McpActionKind; done: string },
  signal: AbortSignal,
): Promise<number> {
  await using attached = await attachServers(host, signal)
  const name = options.args[0] ?? ''
  await request(attached.dispatch, 'mcpAction', { agent: readAgentOption(options), name, action }, signal)
  if (options.has('json')) return printJson(host, { agent: readAgentOption(options), name })
  host.stdout.write(`${done} ${name}\n`)
  return 0
}

function toChange(options: ParsedOptions, entry: JsonObject, tools: number | undefined): JsonObject {
  return { agent: readAgentOption(options), name: entry['name'], tools: tools ?? null }
}

function formatToolCount(tools: number | undefined): string {
  return tools === undefined ? '' : `: ${pluralize(tools, 'tool')}`
}

/** The error kinds of a server that cannot be used as it is, for example without a token. */
const NOT_STARTED: ReadonlySet<string> = new Set(['unavailable', 'credentials'])
