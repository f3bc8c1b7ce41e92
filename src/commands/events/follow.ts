import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { fitLine } from '../../cli/print.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { StopController } from '../../cli/stop-controller.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import type { AgentEventMsg } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, requestMany } from '../../core/protocol/dispatch.ts'
import { EVENT_KINDS, toJsonLine, toJsonMcp, toLine, toMcpLine } from './event-lines.ts'
import { DEFAULT_EVENT_KINDS, type KindName } from './kinds.ts'

/**
 * Runs `crabtalk events`: prints what happens in the daemon until a signal, the reader of the output, or the
 * daemon ends it.
 */
export const followEventsCommand: CommandHandler = async ({ options, host }) => {
  if (options.has('mcp') && options.has('kind')) {
    throw new CrabError('usage', 'Cannot use --kind with --mcp: events of servers are all of one kind', {
      hint: 'leave out --kind',
    })
  }
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  try {
    await using attached = await requireDaemon(host, { task: 'follow events' }, stop.signal)
    const lines = options.has('mcp') ? mcpLines : agentLines
    for await (const line of lines(options, attached.dispatch, stop.signal))
      await printEvent(host, options, line)
    return 0
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    await host.stdout.flush()
    return stop.exit
  }
}

/** An event in both output formats. */
interface EventLine {
  text: string
  json(): object
}

async function* agentLines(
  options: ParsedOptions,
  dispatch: Dispatch,
  signal: AbortSignal,
): AsyncGenerator<EventLine> {
  const agent = options.value('agent')
  const named = options.values('kind') as readonly KindName[]
  const kinds = (named.length > 0 ? named : DEFAULT_EVENT_KINDS).map((name) => EVENT_KINDS[name])
  for await (const event of requestMany(dispatch, 'subscribeEvents', { kinds }, signal)) {
    if (agent === undefined || concernsAgent(agent, event))
      yield { text: toLine(event), json: () => toJsonLine(event) }
  }
}

async function* mcpLines(
  options: ParsedOptions,
  dispatch: Dispatch,
  signal: AbortSignal,
): AsyncGenerator<EventLine> {
  const agent = options.value('agent')
  for await (const event of requestMany(dispatch, 'subscribeMcpEvents', {}, signal)) {
    if (agent === undefined || event.agent === agent)
      yield { text: toMcpLine(event), json: () => toJsonMcp(event) }
  }
}

/** Attributes a published event to an agent when it reports the end of a turn of that agent. */
function concernsAgent(agent: string, event: AgentEventMsg): boolean {
  if (event.kind !== EVENT_KINDS.published) return event.agent === agent
  return event.content.startsWith(`agent:${agent}:`)
}

async function printEvent(host: Host, options: ParsedOptions, line: EventLine): Promise<void> {
  const text = options.has('json') ? toShownJson(line.json()) : await fitLine(host, line.text)
  await host.stdout.write(`${text}\n`)
}
