import { toShownJson } from '../../core/base/json.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { McpActionKind } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany } from '../../core/protocol/dispatch.ts'
import type { CommandHandler, ParsedOptions } from '../command.ts'
import { parseCount } from '../duration.ts'
import { requireDaemon } from '../follow/require-daemon.ts'
import type { Host } from '../host.ts'
import { printJson } from '../print.ts'
import { readAgentOption } from './change.ts'
import { printStream } from './print-stream.ts'

/** `crabtalk mcp serverLogsCommand`: what a server last wrote to standard error, and with --follow what it goes on to write. */
export const serverLogsCommand: CommandHandler = async ({ options, host, signal }) => {
  const lines = parseCount('lines', options.value('lines') ?? MOST_KEPT)
  const [name = ''] = options.args
  const at = { agent: readAgentOption(options), name }
  if (options.has('follow')) {
    return await printStream(host, (dispatch, stop) =>
      streamLogLines(dispatch, { ...at, lines, options, host }, stop),
    )
  }
  await using attached = await requireDaemon(host, {}, signal)
  const { LOGS: action } = McpActionKind
  const { logs: kept } = await request(attached.dispatch, 'mcpAction', { ...at, action }, signal)
  const wanted = lines === 0 ? [] : kept.slice(-lines)
  if (options.has('json')) return printJson(host, wanted)
  if (kept.length === 0) host.stderr.write(`${name} has written nothing to standard error\n`)
  for (const line of wanted) await host.stdout.write(`${toPrintable(host, line)}\n`)
  return 0
}

interface LogFollowOptions {
  agent: string
  name: string
  lines: number
  options: ParsedOptions
  host: Host
}

async function* streamLogLines(
  dispatch: Dispatch,
  { agent, name, lines, options, host }: LogFollowOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const wanted = { agent, name, logs: true, lines }
  for await (const { ts, payload } of requestMany(dispatch, 'mcpTrace', wanted, signal)) {
    for (const line of payload.split('\n')) {
      yield options.has('json') ? toShownJson({ at: ts || null, line }) : toPrintable(host, line)
    }
  }
}

function toPrintable({ stdout }: Host, line: string): string {
  return stdout.isTerminal ? sanitize(line) : line
}

/** All that the daemon keeps of a server. */
const MOST_KEPT = '200'
