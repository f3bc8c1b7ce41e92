import {
  type Check,
  type CheckContext,
  type CheckResult,
  note,
  ok,
  problem,
  warning,
} from '../../../cli/check.ts'
import { toCrabError } from '../../../core/base/errors.ts'
import { quoteWord } from '../../../core/base/quote-word.ts'
import { findProgram } from '../../../core/process/find-program.ts'
import { findIdleListedRules } from '../../../daemon/idle-rules/find-idle-rules.ts'
import { findIdlePatterns, validateEntry } from '../../../mcp/entry-facts.ts'
import { buildSpecContext } from '../../../up/services/spec-context.ts'
import { readKnownServers } from '../../mcp/servers.ts'
import { readInstalledNames } from '../../written-rules.ts'
import { type CheckedServer, findCheckedServers, type ServerSelection } from './checked-servers.ts'
import { openCredentialCheck } from './credentials.ts'
import { checkRuntimes, findOnServicePath } from './runtimes.ts'

/** Checks what MCP servers need and, with --deep, that they start. */
export const checkServers: Check = (context, signal) => checkSelectedServers({}, context, signal)

/** Checks some of the MCP servers as checkServers() does. */
export async function checkSelectedServers(
  selection: ServerSelection,
  context: CheckContext,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const { servers, findings } = await findCheckedServers(context, selection)
  if (servers.length + findings.length === 0 && selection.name === undefined)
    return [note('no agent has an MCP server')]
  const checkCredentials = openCredentialCheck(context)
  const starts = context.deep ? await startServers(servers, context, signal) : undefined
  const ofEach = servers.map(async (server) => {
    const found = starts?.get(server) ?? [await checkServer(server, context)]
    const advice = new Set(found.map(({ hint }) => hint))
    const credentials = await checkCredentials(server)
    const isNew = ({ status, hint }: CheckResult) => status !== 'problem' || !advice.has(hint)
    return [...found, ...(await checkServicePath(server, context)), ...credentials.filter(isNew)]
  })
  const runtimes = context.deep ? checkRuntimes(servers, context, signal) : []
  const rest = [runtimes, patternFindings(selection, context, signal)]
  return [...(await Promise.all([...ofEach, Promise.resolve(findings), ...rest])).flat()]
}

async function startServers(
  servers: readonly CheckedServer[],
  context: CheckContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<CheckedServer, CheckResult[]>> {
  const { tryAll } = await import('./connections.ts')
  return await tryAll(servers, context, signal)
}

/**
 * Finds patterns of entries, rules and names in `tools` that match no tool of the selected servers, as far as these
 * have listed their tools, now or before.
 */
async function patternFindings(
  selection: ServerSelection,
  { host, paths }: CheckContext,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const { agent: owner, name } = selection
  const isSelected = ({ agent, entry }: { agent: string; entry: { name: string } }) =>
    (owner === undefined || agent === owner) && (name === undefined || entry.name === name)
  const servers = (await readKnownServers(host, signal)).filter(isSelected)
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

async function checkServer({ what, entry }: CheckedServer, context: CheckContext): Promise<CheckResult> {
  const { command, disabled } = entry
  if (disabled) return note(`${what} is disabled`)
  if (command === undefined) {
    const flaw = validateEntry(entry, context.paths.home)
    return flaw
      ? problem(`${what}: ${flaw.message}`, flaw.hint)
      : note(`${what} is remote; --deep connects to it`)
  }
  try {
    return ok(`${what}: ${await locateProgram(entry, context)}`)
  } catch (reason) {
    const { message, hint } = toCrabError(reason)
    return problem(`${what}: ${message}`, hint)
  }
}

/** Returns the path of the program of a server. Throws `missing`. */
async function locateProgram(
  { command = '', cwd, env }: CheckedServer['entry'],
  { host, paths }: CheckContext,
): Promise<string> {
  const folder = cwd === undefined || cwd === paths.home ? host.cwd() : cwd // the home may not exist yet
  return await findProgram({
    argv: [command],
    cwd: folder,
    env: { PATH: host.env['PATH'] ?? '', ...env },
  })
}

/** Reports a program that this shell finds, and a service would not. */
async function checkServicePath(server: CheckedServer, context: CheckContext): Promise<CheckResult[]> {
  const { what, entry } = server
  const { command, env, disabled } = entry
  if (disabled || command === undefined || /[/\\]/.test(command) || env?.['PATH'] !== undefined) return []
  const program = await locateProgram(entry, context).catch(() => undefined) // checkServer() reports it
  if (program === undefined) return []
  const { path } = await buildSpecContext(context.host)
  if ((await findOnServicePath(command, path)) !== undefined) return []
  return [
    note(
      `${what}: a daemon that runs as a service would not find ${command}, which is ${program}`,
      `write its full path${advisePath(server, program)}`,
    ),
  ]
}

/** Completes the advice to write a path into an entry; commands do not change a `.mcp.json`. */
function advisePath({ entry, options, file }: CheckedServer, program: string): string {
  if (file?.endsWith('.json')) return ` into ${file}`
  const words = [entry.name, options, `command=${quoteWord(program)}`].filter((word) => word !== '')
  return `: crabtalk mcp set ${words.join(' ')}`
}
