import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { fitLine } from '../../cli/print.ts'
import { toShownJson } from '../../core/base/json.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { McpTraceEvent } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, requestMany } from '../../core/protocol/dispatch.ts'
import { readFileEntry } from './file-servers.ts'
import { RequestTracker, toFrameLine, toJsonFrame } from './frame-lines.ts'
import { printStream } from './print-stream.ts'

/** Runs `crabtalk mcp trace`: prints every message between the daemon and servers as it passes. */
export const traceServersCommand: CommandHandler = ({ options, host }) => {
  return printStream(host, (dispatch, signal) => streamFrames({ dispatch, options, host }, signal))
}

async function* streamFrames(
  { dispatch, options, host }: { dispatch: Dispatch; options: ParsedOptions; host: Host },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const [name = ''] = options.args
  const agent = options.value('agent') ?? (name === '' ? '' : DEFAULT_AGENT)
  const entry = name === '' ? '' : await readFileEntry(dispatch, { agent, name, options, host }, signal)
  const tracker = new RequestTracker()
  for await (const frame of requestMany(dispatch, 'mcpTrace', { agent, name, entry }, signal)) {
    yield await toText(frame, tracker.resolveMethod(frame), { options, host })
  }
}

async function toText(
  frame: McpTraceEvent,
  requestMethod: string,
  { options, host }: { options: ParsedOptions; host: Host },
): Promise<string> {
  if (options.has('json')) return toShownJson(toJsonFrame(frame, requestMethod))
  const line = toFrameLine(frame, requestMethod)
  return options.has('full') ? line : await fitLine(host, line)
}
