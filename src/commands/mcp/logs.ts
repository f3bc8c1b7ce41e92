import { toShownJson } from '../../core/base/json.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { McpActionKind } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany } from '../../core/protocol/dispatch.ts'
import type { Options, Run } from '../command.ts'
import { parseCount } from '../duration.ts'
import { requireDaemon } from '../follow/require-daemon.ts'
import type { Host } from '../host.ts'
import { printJson } from '../print.ts'
import { agentOf } from './change.ts'
import { printLines } from './following.ts'

/** `crabtalk mcp logs`: what a server last wrote to standard error, and with --follow what it goes on to write. */
export const logs: Run = async ({ options, host, signal }) => {
  const lines = parseCount('lines', options.value('lines') ?? MOST_KEPT)
  const [name = ''] = options.args
  const at = { agent: agentOf(options), name }
  if (options.has('follow')) {
    return await printLines(host, (dispatch, stop) =>
      followed(dispatch, { ...at, lines, options, host }, stop),
    )
  }
  await using attached = await requireDaemon(host, {}, signal)
  const { LOGS: action } = McpActionKind
  const { logs: kept } = await request(attached.dispatch, 'mcpAction', { ...at, action }, signal)
  const wanted = lines === 0 ? [] : kept.slice(-lines)
  if (options.has('json')) return printJson(host, wanted)
  if (kept.length === 0) host.stderr.write(`${name} has written nothing to standard error\n`)
  for (const line of wanted) await host.stdout.write(`${shown(host, line)}\n`)
  return 0
}

interface Following {
  agent: string
  name: string
  lines: number
  options: Options
  host: Host
}

async function* followed(
  dispatch: Dispatch,
  { agent, name, lines, options, host }: Following,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const wanted = { agent, name, logs: true, lines }
  for await (const { ts, payload } of requestMany(dispatch, 'mcpTrace', wanted, signal)) {
    for (const line of payload.split('\n')) {
      yield options.has('json') ? toShownJson({ at: ts || null, line }) : shown(host, line)
    }
  }
}

function shown({ stdout }: Host, line: string): string {
  return stdout.isTerminal ? sanitize(line) : line
}

/** All that the daemon keeps of a server. */
const MOST_KEPT = '200'
