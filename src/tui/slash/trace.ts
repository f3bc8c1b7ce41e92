import { toCrabError } from '../../core/base/errors.ts'
import { toLocalClock } from '../../core/base/format.ts'
import type { McpTraceEvent } from '../../core/protocol/crabtalk.generated.ts'
import { requestMany } from '../../core/protocol/dispatch.ts'
import { newPage } from '../overlays/page.ts'
import { cleanLine } from '../view/clean.ts'
import { findPage, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/trace [SERVER]`: shows the messages between the daemon and MCP servers from now on, until the page is closed. */
export function showTrace(server: string, context: SlashContext): void {
  const title = server === '' ? 'Messages of all MCP servers' : `Messages of MCP server ${server}`
  showOverlay(context, { ...newPage(title, WAITING), scroll: END })
  const closed = new AbortController()
  const stop = context.subscribe(() => {
    if (!findPage(context, title)) closed.abort()
  })
  follow({ server, title }, context, AbortSignal.any([closed.signal, context.lifetime]))
    .catch((reason) => {
      if (!closed.signal.aborted && !context.lifetime.aborted)
        showLines(context, title, [toCrabError(reason).message])
    })
    .finally(stop)
}

/** Follows the traffic until the chat ends; not awaited by the command, so that queued messages are sent meanwhile. */
async function follow(
  { server, title }: { server: string; title: string },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const { agent } = context.state()
  let lines: readonly string[] = []
  const frames = requestMany(
    context.dispatch,
    'mcpTrace',
    server === '' ? {} : { agent, name: server },
    signal,
  )
  for await (const frame of frames) {
    lines = [...lines.slice(1 - MAX_LINES), toLine(frame)]
    showLines(context, title, lines)
  }
}

function showLines(context: SlashContext, title: string, lines: readonly string[]): void {
  const page = findPage(context, title)
  if (page) showOverlay(context, { ...newPage(title, lines.join('\n')), scroll: page.scroll })
}

function toLine({ ts, outgoing, owners, method, id, durationMs, payload }: McpTraceEvent): string {
  const names = [...new Set(owners.map(({ name }) => name))].join(',')
  const time = toLocalClock(new Date(ts))
  const facts = [names, method, id && `#${id}`, durationMs === undefined ? '' : `${durationMs} ms`]
  const shown = payload.length > MAX_PAYLOAD ? `${payload.slice(0, MAX_PAYLOAD)}…` : payload
  return cleanLine([time, outgoing ? '→' : '←', ...facts, shown].filter(Boolean).join('  '))
}

const WAITING = 'Waiting for messages. Outside the chat, crabtalk mcp trace prints them.'
const MAX_LINES = 200
const MAX_PAYLOAD = 300
/** Shows the newest lines until the user scrolls up. */
const END = Number.MAX_SAFE_INTEGER
