import { toCrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import { AgentEventKind } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany } from '../../core/protocol/dispatch.ts'
import { escapeLine } from '../../tui/cards/subject.ts'
import { wantsColor } from '../color.ts'
import type { CommandHandler } from '../command.ts'
import { shortId } from '../conversation/find.ts'
import { requireDaemon } from '../follow/require-daemon.ts'
import type { Host } from '../host.ts'
import { printJson } from '../print.ts'
import { StopController } from '../send/stop-controller.ts'
import { toAskClosedRecord } from '../send/stream-json-sink.ts'
import { toWaitingAsks, type WaitingAsk } from './find.ts'
import { askText, toAskJson } from './show.ts'

/** `crabtalk listAsksCommand`: the questions of all agents that wait; with --follow also those that come, and how each ends. */
export const listAsksCommand: CommandHandler = async ({ options, host, signal }) => {
  const agent = options.value('agent') ?? ''
  const json = options.has('json')
  if (options.has('follow')) return await followAsks({ agent, json, host })
  await using attached = await requireDaemon(host, {}, signal)
  const waiting = await fetchAsks(attached.dispatch, agent, signal)
  if (json) return printJson(host, waiting.map(toAskJson))
  if (waiting.length === 0) host.stderr.write('No pending questions\n')
  host.stdout.write(waiting.map((info) => toText(info, host)).join('\n'))
  return 0
}

/** Those of one agent, or of all for an empty name; oldest first. */
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
    await using attached = await requireDaemon(host, {}, stop.signal)
    for await (const news of streamAskEvents(attached.dispatch, agent, stop.signal)) {
      await host.stdout.write(json ? `${toShownJson(toLine(news))}\n` : toNewsText(news, host))
    }
    return 0
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    return stop.exit
  }
}

type AskChange = { opened: WaitingAsk } | { closed: { askId: string; by: string; content: string } }

/** What waits, then what comes and goes; each question opens once, and closes only when it was opened. */
async function* streamAskEvents(
  dispatch: Dispatch,
  agent: string,
  signal: AbortSignal,
): AsyncGenerator<AskChange> {
  const left = new AbortController()
  const until = AbortSignal.any([signal, left.signal])
  const open = new Set<string>()
  const opened = (asks: readonly WaitingAsk[]) => {
    const news = asks.filter((one) => (agent === '' || one.agent === agent) && !open.has(one.ask.askId))
    for (const { ask } of news) open.add(ask.askId)
    return news.map((one): AskChange => ({ opened: one }))
  }
  const kinds = [AgentEventKind.ASK_OPENED, AgentEventKind.ASK_CLOSED]
  const events = requestMany(dispatch, 'subscribeEvents', { kinds }, until)
  let next = events.next() // before they are listed, so that none comes between
  try {
    yield* opened(await fetchAsks(dispatch, agent, until))
    for (let told = await next; !told.done; told = await next) {
      next = events.next()
      const { ask, askClosed } = told.value
      if (ask) yield* opened(toWaitingAsks([ask]))
      if (askClosed && open.delete(askClosed.askId)) yield { closed: askClosed }
    }
  } finally {
    left.abort()
    await next.catch(() => undefined) // it was left, or whoever reads has been told
  }
}

function toText(info: WaitingAsk, host: Host): string {
  const color = wantsColor('auto', host.env, host.stdout)
  const columns = host.stdout.isTerminal ? host.columns() : UNBROKEN
  return askText(info, { style: { columns, color }, now: Date.now() })
}

/** Nobody breaks lines in a pipe. */
const UNBROKEN = Number.MAX_SAFE_INTEGER

function toNewsText(news: AskChange, host: Host): string {
  if ('opened' in news) return `${toText(news.opened, host)}\n`
  const { askId, by } = news.closed
  return `${shortId(askId)}  closed: ${escapeLine(by)}\n\n`
}

function toLine(news: AskChange) {
  return 'opened' in news ? { type: 'ask.opened', ...toAskJson(news.opened) } : toAskClosedRecord(news.closed)
}
