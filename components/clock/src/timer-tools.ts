import { setTimeout as sleep } from 'node:timers/promises'
import type { ComponentTool, ToolCall } from 'crabtalk/component'
import { type ClockSetting, MAX_ARGUMENT_CHARS, resolveZone, TIME_ARGUMENT } from './clock-setting.ts'
import { readDuration, showDuration } from './duration.ts'
import { readTime } from './read-time.ts'
import { showIso } from './show-time.ts'
import { type Timer, Timers } from './timers.ts'

/** Creates the tools for timers, which end with the process. */
export function timerTools(setting: ClockSetting): ComponentTool[] {
  const timers = new Timers(setting.now)
  const show = (timer: Timer) => showTimer(timer, setting)
  return [
    startTool(setting, timers, show),
    waitTool(setting, timers, show),
    listTool(timers, show),
    cancelTool(timers, show),
  ]
}

type Show = (timer: Timer) => string

function startTool(
  setting: ClockSetting,
  timers: Timers,
  show: Show,
): ComponentTool<{ duration?: string; until?: string; label?: string }> {
  return {
    name: 'timer_start',
    title: 'Start a timer',
    description:
      'Starts a timer with a duration or an end time and returns its id immediately. Nothing happens when it ends: wait for it with timer_wait, or see it with timer_list.',
    inputSchema: {
      type: 'object',
      properties: {
        duration: {
          type: 'string',
          maxLength: MAX_ARGUMENT_CHARS,
          description: 'Such as 90s, 10 minutes, 1h 30m',
        },
        until: {
          ...TIME_ARGUMENT,
          description: `When it ends, instead of a duration: ${TIME_ARGUMENT.description}`,
        },
        label: { type: 'string', maxLength: 200, description: 'What it is for' },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    run({ duration, until, label = '' }) {
      if ((duration === undefined) === (until === undefined))
        throw new Error('Give either "duration" or "until"')
      const now = setting.now()
      const endsAt =
        duration === undefined
          ? readTime(until!, { zone: resolveZone(setting, undefined), now }).at
          : now + readDuration(duration)
      return show(timers.start(endsAt, label))
    },
  }
}

function waitTool(
  setting: ClockSetting,
  timers: Timers,
  show: Show,
): ComponentTool<{ id: string; at_most?: string }> {
  return {
    name: 'timer_wait',
    title: 'Wait for a timer',
    description:
      'Waits until a timer ends and says so; or, after at_most, says how much time is left. Call it again to keep waiting.',
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'The id that timer_start returned' },
        at_most: {
          type: 'string',
          maxLength: MAX_ARGUMENT_CHARS,
          description:
            'The longest time to wait: up to 9 minutes, or 45 seconds if the host does not show progress',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ id, at_most: atMost }, call) {
      const requested = atMost === undefined ? Number.POSITIVE_INFINITY : readDuration(atMost)
      const limit = Math.min(requested, call.wantsProgress ? MAX_WAIT_MS : MAX_SILENT_MS)
      await waitFor(timers.get(id), setting.now() + limit, { setting, call })
      return show(timers.get(id))
    },
  }
}

/** Waits until a timer ends or `until` has come, and reports progress meanwhile. */
async function waitFor(
  timer: Timer,
  until: number,
  { setting, call }: { setting: ClockSetting; call: ToolCall },
): Promise<void> {
  const total = Math.round((timer.endsAt - timer.startedAt) / 1_000)
  const signal = AbortSignal.any([call.signal, timer.cancelled])
  const isOver = (now: number) => timer.cancelled.aborted || now >= timer.endsAt || now >= until
  for (let now = setting.now(); !isOver(now); now = setting.now()) {
    const done = Math.round((now - timer.startedAt) / 1_000)
    call.progress(`${showDuration(timer.endsAt - now)} left`, done, total)
    await sleep(Math.min(PROGRESS_MS, timer.endsAt - now, until - now), undefined, { signal }).catch(() =>
      call.signal.throwIfAborted(),
    )
  }
}

function listTool(timers: Timers, show: Show): ComponentTool {
  return {
    name: 'timer_list',
    title: 'List timers',
    description: 'Lists the running timers and those that ended in the last day.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: () => timers.list().map(show).join('\n') || 'No timers.',
  }
}

function cancelTool(timers: Timers, show: Show): ComponentTool<{ id: string }> {
  return {
    name: 'timer_cancel',
    title: 'Cancel a timer',
    description: 'Cancels a timer.',
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'string', description: 'The id that timer_start returned' } },
      required: ['id'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
    run: ({ id }) => `Cancelled: ${show(timers.cancel(id))}`,
  }
}

/** Formats a timer: `t1 "tea": 3 min left, ends 2026-11-22T15:00:00+01:00`. */
function showTimer({ id, label, endsAt }: Timer, setting: ClockSetting): string {
  const left = endsAt - setting.now()
  const end = showIso(endsAt, resolveZone(setting, undefined))
  const state = left > 0 ? `${showDuration(left)} left, ends ${end}` : `ended ${end}`
  return `${id}${label ? ` "${label}"` : ''}: ${state}`
}

/** Hosts time out after a minute without progress, and after ten minutes in total. */
const MAX_SILENT_MS = 45_000
const MAX_WAIT_MS = 540_000
const PROGRESS_MS = 10_000
