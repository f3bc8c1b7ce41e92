import { toCrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import { AgentEventKind } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, requestMany } from '../../core/protocol/dispatch.ts'
import { visibleLine } from '../../tui/cards/subject.ts'
import { wantsColor } from '../color.ts'
import type { Run } from '../command.ts'
import { shortId } from '../conversation/find.ts'
import { requireDaemon } from '../follow/require-daemon.ts'
import type { Host } from '../host.ts'
import { printJson } from '../print.ts'
import { Stop } from '../send/stop.ts'
import { toAskClosed } from '../send/stream-json-sink.ts'
import { type WaitingAsk, waitingOf } from './find.ts'
import { askText, toAskJson } from './show.ts'

/** `crabtalk asks`: the questions of all agents that wait; with --follow also those that come, and how each ends. */
export const asks: Run = async ({ options, host, signal }) => {
  const agent = options.value('agent') ?? ''
  const json = options.has('json')
  if (options.has('follow')) return await followAsks({ agent, json, host })
  await using attached = await requireDaemon(host, {}, signal)
  const waiting = await listAsks(attached.dispatch, agent, signal)
  if (json) return printJson(host, waiting.map(toAskJson))
  if (waiting.length === 0) host.stderr.write('No pending questions\n')
  host.stdout.write(waiting.map((info) => toText(info, host)).join('\n'))
  return 0
}

/** Those of one agent, or of all for an empty name; oldest first. */
export async function listAsks(
  dispatch: Dispatch,
  agent: string,
  signal: AbortSignal,
): Promise<WaitingAsk[]> {
  return waitingOf((await request(dispatch, 'listAsks', { agent }, signal)).asks)
}

interface Following {
  agent: string
  json: boolean
  host: Host
}

async function followAsks({ agent, json, host }: Following): Promise<number> {
  using stop = new Stop({ host, timeoutMs: 0, idleTimeoutMs: 0 })
  try {
    await using attached = await requireDaemon(host, {}, stop.signal)
    for await (const news of newsOf(attached.dispatch, agent, stop.signal)) {
      await host.stdout.write(json ? `${toShownJson(toLine(news))}\n` : toNewsText(news, host))
    }
    return 0
  } catch (reason) {
    if (stop.exit === undefined) throw toCrabError(reason)
    return stop.exit
  }
}

type News = { opened: WaitingAsk } | { closed: { askId: string; by: string; content: string } }

/** What waits, then what comes and goes; each question opens once, and closes only when it was opened. */
async function* newsOf(dispatch: Dispatch, agent: string, signal: AbortSignal): AsyncGenerator<News> {
  const left = new AbortController()
  const until = AbortSignal.any([signal, left.signal])
  const open = new Set<string>()
  const opened = (asks: readonly WaitingAsk[]) => {
    const news = asks.filter((one) => (agent === '' || one.agent === agent) && !open.has(one.ask.askId))
    for (const { ask } of news) open.add(ask.askId)
    return news.map((one): News => ({ opened: one }))
  }
  const kinds = [AgentEventKind.ASK_OPENED, AgentEventKind.ASK_CLOSED]
  const events = requestMany(dispatch, 'subscribeEvents', { kinds }, until)
  let next = events.next() // before they are listed, so that none comes between
  try {
    yield* opened(await listAsks(dispatch, agent, until))
    for (let told = await next; !told.done; told = await next) {
      next = events.next()
      const { ask, askClosed } = told.value
      if (ask) yield* opened(waitingOf([ask]))
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

function toNewsText(news: News, host: Host): string {
  if ('opened' in news) return `${toText(news.opened, host)}\n`
  const { askId, by } = news.closed
  return `${shortId(askId)}  closed: ${visibleLine(by)}\n\n`
}

function toLine(news: News) {
  return 'opened' in news ? { type: 'ask.opened', ...toAskJson(news.opened) } : toAskClosed(news.closed)
}
