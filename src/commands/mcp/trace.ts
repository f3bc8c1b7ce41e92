import { toShownJson } from '../../core/base/json.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { McpTraceEvent } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, requestMany } from '../../core/protocol/dispatch.ts'
import type { Options, Run } from '../command.ts'
import type { Host } from '../host.ts'
import { fitLine } from '../print.ts'
import { printLines } from './following.ts'
import { Asked, toFrameLine, toJsonFrame } from './shown-frame.ts'

/** `crabtalk mcp trace`: every message between the daemon and servers as it passes. */
export const trace: Run = ({ options, host }) => {
  return printLines(host, (dispatch, signal) => frames({ dispatch, options, host }, signal))
}

async function* frames(
  { dispatch, options, host }: { dispatch: Dispatch; options: Options; host: Host },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const [name = ''] = options.args
  const agent = options.value('agent') ?? (name === '' ? '' : DEFAULT_AGENT)
  const asked = new Asked()
  for await (const frame of requestMany(dispatch, 'mcpTrace', { agent, name }, signal)) {
    yield await toText(frame, asked.methodOf(frame), { options, host })
  }
}

async function toText(
  frame: McpTraceEvent,
  asked: string,
  { options, host }: { options: Options; host: Host },
): Promise<string> {
  if (options.has('json')) return toShownJson(toJsonFrame(frame, asked))
  const line = toFrameLine(frame, asked)
  return options.has('full') ? line : await fitLine(host, line)
}
