import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { parseCount } from '../../cli/duration.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { toShownJson } from '../../core/base/json.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { McpActionKind } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany } from '../../core/protocol/dispatch.ts'
import { attachServers } from './attach-servers.ts'
import { readAgentOption } from './change.ts'
import { readFileEntry } from './file-servers.ts'
import { printStream } from './print-stream.ts'

/**
 * Runs `crabtalk mcp logs`: prints the last lines that a server wrote to standard error, in the daemon or in
 * earlier commands, and, with --follow, those that it writes in the daemon from then on.
 */
export const serverLogsCommand: CommandHandler = async ({ options, host, signal }) => {
  const lines = parseCount('lines', options.value('lines') ?? DEFAULT_LINES)
  const [name = ''] = options.args
  const at = { agent: readAgentOption(options), name }
  if (options.has('follow')) {
    return await printStream(host, (dispatch, stop) =>
      streamLogLines(dispatch, { ...at, lines, options, host }, stop),
    )
  }
  await using attached = await attachServers(host, signal)
  const { LOGS: action } = McpActionKind
  const entry = await readFileEntry(attached.dispatch, { ...at, options, host }, signal)
  const { logs } = await request(attached.dispatch, 'mcpAction', { ...at, entry, action }, signal)
  const lastLines = lines === 0 ? [] : logs.slice(-lines)
  if (options.has('json')) return printJson(host, lastLines)
  if (logs.length === 0) host.stderr.write(`${name} has written nothing to standard error\n`)
  for (const line of lastLines) await host.stdout.write(`${toPrintable(host, line)}\n`)
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
  const entry = await readFileEntry(dispatch, { agent, name, options, host }, signal)
  const message = { agent, name, entry, logs: true, lines }
  for await (const { ts, payload } of requestMany(dispatch, 'mcpTrace', message, signal)) {
    for (const line of payload.split('\n')) {
      yield options.has('json') ? toShownJson({ at: ts || null, line }) : toPrintable(host, line)
    }
  }
}

function toPrintable({ stdout }: Host, line: string): string {
  return stdout.isTerminal ? sanitize(line) : line
}

/** The number of lines that the daemon keeps for each server. */
const DEFAULT_LINES = '200'
