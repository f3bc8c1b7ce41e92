import { wantsColor } from '../../cli/color.ts'
import type { CommandHandler } from '../../cli/command.ts'
import { shortId } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { StopController } from '../../cli/stop-controller.ts'
import { toAskClosedRecord } from '../../cli/turn/stream-json-sink.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import { escapeLine } from '../../core/base/visible.ts'
import { AgentEventKind } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany } from '../../core/protocol/dispatch.ts'
import { OpenAsks } from '../../core/protocol/open-asks.ts'
import { toWaitingAsks, type WaitingAsk } from './find.ts'
import { askText, toAskJson } from './show.ts'
import { addTitles, type TitledAsk } from './titles.ts'

/**
 * Runs `crabtalk asks`: lists the pending questions of all agents; with --follow, continues with new
 * questions and how each one ends.
 */
export const listAsksCommand: CommandHandler = async ({ options, host, signal }) => {
  const agent = options.value('agent') ?? ''
  const json = options.has('json')
  if (options.has('follow')) return await followAsks({ agent, json, host })
  await using attached = await requireDaemon(host, { task: 'list questions' }, signal)
  const asks = await fetchAsks(attached.dispatch, agent, signal)
  const waiting = await addTitles(attached.dispatch, asks, signal)
  if (json) return printJson(host, waiting.map(toAskJson))
  if (waiting.length === 0) host.stderr.write('No pending questions\n')
  host.stdout.write(waiting.map((info) => formatAsk(info, host)).join('\n'))
  return 0
}

/** Fetches the pending questions of one agent, or of all agents for an empty name; oldest first. */
export async function fetchAsks(
  dispatch: Dispatch,
  agent: string,
  signal: AbortSignal,
): Promise<WaitingAsk[]> {
  return toWaitingAsks((await request(dispatch, 'listAsks', { agent }, signal)).asks)
}

interface AskFollowOptions {
  agent: string
  json: boolean
  host: Host
}

async function followAsks({ agent, json, host }: AskFollowOptions): Promise<number> {
  using stop = new StopController({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  try {
    await using attached = await requireDaemon(host, { task: 'follow questions' }, stop.signal)
    for await (const change of streamAskEvents(attached.dispatch, agent, stop.signal)) {
      await host.stdout.write(json ? `${toShownJson(toJsonLine(change))}\n` : formatChange(change, host))
    }
    return 0
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    return stop.exit
  }
}

type AskChange = { opened: TitledAsk } | { closed: { askId: string; by: string; content: string } }

/**
 * Yields the pending questions, then those that are opened and closed. Each question is opened once, and
 * closed only if it was opened.
 */
async function* streamAskEvents(
  dispatch: Dispatch,
  agent: string,
  signal: AbortSignal,
): AsyncGenerator<AskChange> {
  const left = new AbortController()
  const until = AbortSignal.any([signal, left.signal])
  const open = new OpenAsks()
  const takeNew = async (asks: readonly WaitingAsk[]) => {
    const newAsks = asks.filter((one) => (agent === '' || one.agent === agent) && open.open(one.ask))
    return (await addTitles(dispatch, newAsks, until)).map((one): AskChange => ({ opened: one }))
  }
  const kinds = [AgentEventKind.ASK_OPENED, AgentEventKind.ASK_CLOSED]
  const events = requestMany(dispatch, 'subscribeEvents', { kinds }, until)
  let next = events.next() // subscribes before listing, so that no question is missed in between
  try {
    yield* await takeNew(await fetchAsks(dispatch, agent, until))
    for (let result = await next; !result.done; result = await next) {
      next = events.next()
      const { ask, askClosed } = result.value
      if (ask) yield* await takeNew(toWaitingAsks([ask]))
      if (askClosed && open.close(askClosed.askId)) yield { closed: askClosed }
    }
  } finally {
    left.abort()
    await next.catch(() => undefined) // it was aborted, or the consumer already got the failure
  }
}

function formatAsk(info: TitledAsk, host: Host): string {
  const color = wantsColor('auto', host.env, host.stdout)
  const columns = host.stdout.isTerminal ? host.columns() : NO_WRAP
  return askText(info, { style: { columns, color }, now: Date.now() })
}

/** Disables wrapping, which output to a pipe must not have. */
const NO_WRAP = Number.MAX_SAFE_INTEGER

function formatChange(change: AskChange, host: Host): string {
  if ('opened' in change) return `${formatAsk(change.opened, host)}\n`
  const { askId, by } = change.closed
  return `${shortId(askId)}  closed: ${escapeLine(by)}\n\n`
}

function toJsonLine(change: AskChange) {
  return 'opened' in change
    ? { type: 'ask.opened', ...toAskJson(change.opened) }
    : toAskClosedRecord(change.closed)
}
