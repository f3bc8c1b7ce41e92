import { type CheckContext, type CheckResult, note, ok, problem } from '../../../cli/check.ts'
import { toCrabError } from '../../../core/base/errors.ts'
import { pluralize } from '../../../core/base/format.ts'
import { sanitizeLine } from '../../../core/base/sanitize.ts'
import { redactText, redactWords } from '../../../core/base/secrets/redact.ts'
import { McpActionKind } from '../../../core/protocol/crabtalk.generated.ts'
import { request } from '../../../core/protocol/dispatch.ts'
import { attach } from '../../../daemon/attach.ts'
import { openServerTrials, type ServerTrials } from '../../../daemon/try-servers.ts'
import { readAllServers } from '../../mcp/servers.ts'
import { judgeCertificate, judgeClock, probeServer, type ServerProbe } from './certificates.ts'
import type { CheckedServer } from './checked-servers.ts'

/**
 * Starts each server, lists its tools and ends it; one that runs in the daemon is pinged there. Checks the
 * certificates of remote servers and the clock on the way.
 */
export async function tryAll(
  servers: readonly CheckedServer[],
  { host }: CheckContext,
  signal: AbortSignal,
): Promise<ReadonlyMap<CheckedServer, CheckResult[]>> {
  await using attached = await attach(host)
  await using trials = await openServerTrials(host, signal)
  const running = await listConnected(attached.dispatch, signal)
  const clocks = new Set<string>()
  const tried = servers.map(async (server): Promise<[CheckedServer, CheckResult[]]> => {
    const { what, entry, agent } = server
    if (entry.disabled) return [server, [note(`${what} is disabled`)]]
    const [probe, started] = await Promise.all([
      entry.url === undefined ? undefined : probeServer(entry.url, signal),
      running.has(`${agent.name}/${entry.name}`) && agent.id !== ''
        ? pingRunning(attached.dispatch, server, signal)
        : tryOne(trials, server, signal),
    ])
    const found = probe ? judgeProbe(probe, clocks) : []
    return [server, [started, ...found, ...proxyNotes(server, started, host.env)]]
  })
  return new Map(await Promise.all(tried))
}

type Dispatching = Parameters<typeof request>[0]

async function listConnected(dispatch: Dispatching, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const { servers } = await readAllServers(dispatch, signal)
  const connected = servers.filter(({ state }) => state === 'connected')
  return new Set(connected.map(({ agent, entry }) => `${agent}/${entry.name}`))
}

async function pingRunning(
  dispatch: Dispatching,
  server: CheckedServer,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { what, agent, entry } = server
  try {
    const message = { agent: agent.name, name: entry.name, action: McpActionKind.PING }
    const { peer, durationMs } = await request(dispatch, 'mcpAction', message, signal)
    const tools = pluralize(peer?.toolCount ?? 0, 'tool')
    return ok(`${what} runs in the daemon, answered in ${durationMs} ms, ${tools}`)
  } catch (reason) {
    return toProblem(server, reason, undefined)
  }
}

async function tryOne(
  trials: ServerTrials,
  server: CheckedServer,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { what, agent, entry } = server
  const limit = AbortSignal.timeout(START_MS)
  try {
    const { tools, startMs } = await trials.tryServer(agent, entry, AbortSignal.any([signal, limit]))
    return ok(`${what} started in ${startMs} ms, ${pluralize(tools, 'tool')}`)
  } catch (reason) {
    if (limit.aborted) return toLate(server)
    return toProblem(server, reason, trials.readLastLine(agent, entry))
  }
}

function toLate({ what, entry, agent }: CheckedServer): CheckResult {
  const wait = `crabtalk mcp ping ${entry.name} -a ${agent.name} waits as long as its startup_timeout_ms`
  return problem(`${what}: it did not start within ${START_MS / 1000} s`, wait)
}

/** Describes a failed start with the last line of standard error, unless the error has it. */
function toProblem(
  { what, agent, entry }: CheckedServer,
  reason: unknown,
  lastLine: string | undefined,
): CheckResult {
  const { message, hint } = toCrabError(reason)
  const why = message.replace(/^Cannot use the MCP server "[^"]*": /, '')
  const line = lastLine === undefined ? '' : sanitizeLine(redactText(lastLine)).slice(0, MAX_LINE).trim()
  const isKnown = line === '' || why.includes(line) || (hint !== undefined && line.includes(hint))
  const more = isKnown ? '' : `; last line of standard error: ${line}`
  const see =
    agent.id === '' ? 'see crabtalk mcp list' : `see crabtalk mcp logs ${entry.name} -a ${agent.name}`
  return problem(`${what}: ${why}${more}`, hint ?? see)
}

/** Judges what a request told; a wrong clock is reported once. */
function judgeProbe(probe: ServerProbe, clocks: Set<string>): CheckResult[] {
  const now = Date.now()
  const clock = clocks.size === 0 ? judgeClock(probe, now) : []
  for (const { message } of clock) clocks.add(message)
  return [...judgeCertificate(probe, now), ...clock]
}

/** Names the proxies of the environment when a remote server could not be reached. */
function proxyNotes(
  { what, entry }: CheckedServer,
  started: CheckResult,
  env: CheckContext['host']['env'],
): CheckResult[] {
  if (entry.url === undefined || started.status !== 'problem') return []
  const scheme = entry.url.startsWith('https:') ? 'https' : 'http'
  const names = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`, 'all_proxy', 'ALL_PROXY']
  const name = names.find((one) => env[one])
  if (name === undefined) return []
  const [proxy] = redactWords([env[name]!])
  return [
    note(
      `${what}: ${name} is set, so it is reached through ${proxy}`,
      'NO_PROXY lists the hosts that need no proxy',
    ),
  ]
}

const MAX_LINE = 200
/** Shorter than the limit of the whole check, so that one server does not cost the findings about the others. */
const START_MS = 50_000
