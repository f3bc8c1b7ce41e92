import { toCrabError } from '../../core/base/errors.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import type { TracedEvent } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { newPage } from '../overlays/page.ts'
import { inColumns, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/events`: shows the subscriptions, and the latest published events with the runs they started. */
export async function showEvents(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { subscriptions, problems } = await request(context.dispatch, 'listSubscriptions', {}, signal)
  const rows = subscriptions.map(({ id, source, targetAgent, once }): [string, string] => [
    `${id}  ${source}`,
    `starts ${targetAgent}${once ? ', once' : ''}`,
  ])
  const { events, none } = await fetchEvents(context, signal)
  const now = context.ports.now()
  const lines = [
    rows.length === 0
      ? 'No subscriptions. Create one: crabtalk events subscribe SOURCE AGENT'
      : 'Subscriptions',
    ...(rows.length === 0 ? [] : [inColumns(rows)]),
    ...problems,
    '',
    events.length === 0 ? none : 'Latest events',
    ...(events.length === 0 ? [] : [inColumns(events.map((event) => toRow(event, now)))]),
    '',
    'To follow all events live: crabtalk events',
  ]
  showOverlay(context, newPage('Events', lines.join('\n')))
}

/** Returns the latest events, and the text to show when there are none: outside a daemon nothing records them. */
async function fetchEvents({ dispatch }: SlashContext, signal: AbortSignal) {
  try {
    const { events } = await request(dispatch, 'traceEvent', { limit: SHOWN_EVENTS }, signal)
    return { events, none: 'No events yet' }
  } catch (reason) {
    const { kind, message } = toCrabError(reason)
    if (kind !== 'unavailable') throw reason
    return { events: [], none: message }
  }
}

const SHOWN_EVENTS = 20

function toRow({ source, publishedAt, payload, fired }: TracedEvent, now: number): [string, string] {
  const agents = fired.map(({ agent }) => agent)
  const started = agents.length === 0 ? [] : [`started ${agents.join(', ')}`]
  return [source, [relativeTime(publishedAt, now), ...started, payload].filter(Boolean).join(' · ')]
}
