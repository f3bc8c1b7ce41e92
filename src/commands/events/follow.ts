import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import type { AgentEventMsg } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, requestMany } from '../../core/protocol/dispatch.ts'
import type { Options, Run } from '../command.ts'
import { requireDaemon } from '../follow/require-daemon.ts'
import type { Host } from '../host.ts'
import { fitLine } from '../print.ts'
import { Stop } from '../send/stop.ts'
import { type KindName, USUAL_KINDS } from './kinds.ts'
import { KINDS, toJsonLine, toJsonMcp, toLine, toMcpLine } from './shown-event.ts'

/** `crabtalk events`: what goes on in the daemon, until a signal, the reader of the lines, or the daemon ends it. */
export const follow: Run = async ({ options, host }) => {
  if (options.has('mcp') && options.has('kind')) {
    throw new CrabError('usage', 'Cannot use --kind with --mcp: events of servers are all of one kind', {
      hint: 'leave --kind out',
    })
  }
  using stop = new Stop({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  try {
    await using attached = await requireDaemon(host, {}, stop.signal)
    const lines = options.has('mcp') ? mcpLines : agentLines
    for await (const line of lines(options, attached.dispatch, stop.signal))
      await printLine(host, options, line)
    return 0
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    await host.stdout.flush()
    return stop.exit
  }
}

/** An event in both forms. */
interface Line {
  text: string
  json(): object
}

async function* agentLines(options: Options, dispatch: Dispatch, signal: AbortSignal): AsyncGenerator<Line> {
  const agent = options.value('agent')
  const named = options.values('kind') as readonly KindName[]
  const kinds = (named.length > 0 ? named : USUAL_KINDS).map((name) => KINDS[name])
  for await (const event of requestMany(dispatch, 'subscribeEvents', { kinds }, signal)) {
    if (agent === undefined || isOf(agent, event))
      yield { text: toLine(event), json: () => toJsonLine(event) }
  }
}

async function* mcpLines(options: Options, dispatch: Dispatch, signal: AbortSignal): AsyncGenerator<Line> {
  const agent = options.value('agent')
  for await (const event of requestMany(dispatch, 'subscribeMcpEvents', {}, signal)) {
    if (agent === undefined || event.agent === agent)
      yield { text: toMcpLine(event), json: () => toJsonMcp(event) }
  }
}

/** What is published belongs to an agent when it is the end of its turn. */
function isOf(agent: string, event: AgentEventMsg): boolean {
  if (event.kind !== KINDS.published) return event.agent === agent
  return event.content.startsWith(`agent:${agent}:`)
}

async function printLine(host: Host, options: Options, line: Line): Promise<void> {
  const text = options.has('json') ? toShownJson(line.json()) : await fitLine(host, line.text)
  await host.stdout.write(`${text}\n`)
}
