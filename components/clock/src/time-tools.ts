import type { ComponentTool } from 'crabtalk/component'
import { addToDate, spanBetween, workingDaysBetween } from './calendar.ts'
import { type ClockSetting, resolveZone, TIME_ARGUMENT, ZONE_ARGUMENT } from './clock-setting.ts'
import { showDuration } from './duration.ts'
import { readTime, type ZonedTime } from './read-time.ts'
import { showIso, showTime } from './show-time.ts'
import { requireSupportedTime, toInstant, toWallTime } from './wall-time.ts'

/** Creates the tools that tell, convert and calculate times. */
export function timeTools(setting: ClockSetting): ComponentTool[] {
  return [nowTool(setting), convertTool(setting), differenceTool(setting), addTool(setting)]
}

function nowTool(setting: ClockSetting): ComponentTool<{ zones?: string[] }> {
  return {
    name: 'now',
    title: 'Time now',
    description:
      'Returns the current date and time, here or in other time zones. Use it before answering anything that depends on today.',
    inputSchema: {
      type: 'object',
      properties: {
        zones: {
          type: 'array',
          items: ZONE_ARGUMENT,
          minItems: 1,
          maxItems: 20,
          description: 'Time zones; by default that of this machine',
        },
      },
      additionalProperties: false,
    },
    annotations: READ_ONLY,
    run({ zones = ['local'] }) {
      const now = setting.now()
      const lines = zones.map((name) => showTime(now, resolveZone(setting, name)))
      return [...lines, `Unix time ${Math.floor(now / 1_000)}`].join('\n')
    },
  }
}

function convertTool(setting: ClockSetting): ComponentTool<{ time: string; from?: string; to: string[] }> {
  return {
    name: 'convert',
    title: 'Convert a time',
    description:
      'Converts a time from one time zone to others, with the offsets of that date (daylight saving time).',
    inputSchema: {
      type: 'object',
      properties: {
        time: TIME_ARGUMENT,
        from: {
          ...ZONE_ARGUMENT,
          description: `The time zone of that time, if it has no offset. ${ZONE_ARGUMENT.description}`,
        },
        to: { type: 'array', items: ZONE_ARGUMENT, minItems: 1, maxItems: 20, description: 'Time zones' },
      },
      required: ['time', 'to'],
      additionalProperties: false,
    },
    annotations: READ_ONLY,
    run({ time, from, to }) {
      const read = readTime(time, { zone: resolveZone(setting, from), now: setting.now() })
      const lines = to.map((name) => showTime(read.at, resolveZone(setting, name)))
      return [showTime(read.at, read.zone), ...lines, ...describeClockChange(read)].join('\n')
    },
  }
}

function differenceTool(setting: ClockSetting): ComponentTool<{ from?: string; to: string; zone?: string }> {
  return {
    name: 'difference',
    title: 'Between two times',
    description:
      'Returns the time between two times: exactly, by the calendar, and in days from Monday to Friday. For "how long until" and "how long since".',
    inputSchema: {
      type: 'object',
      properties: {
        from: { ...TIME_ARGUMENT, description: `${TIME_ARGUMENT.description}; by default now` },
        to: TIME_ARGUMENT,
        zone: ZONE_ARGUMENT,
      },
      required: ['to'],
      additionalProperties: false,
    },
    annotations: READ_ONLY,
    run({ from = 'now', to, zone: name }) {
      const zone = resolveZone(setting, name)
      const read = [from, to].map((text) => readTime(text, { zone, now: setting.now() })) as [
        ZonedTime,
        ZonedTime,
      ]
      const [first, last] = read.toSorted((a, b) => a.at - b.at) as [ZonedTime, ZonedTime]
      const { years, months, days, restMs } = spanBetween(first.at, last.at, zone)
      const calendar = [plural(years, 'year'), plural(months, 'month'), plural(days, 'day')].filter(Boolean)
      const working = workingDaysBetween(toWallTime(zone, first.at), toWallTime(zone, last.at))
      const ms = last.at - first.at
      return [
        `From ${showIso(read[0].at, zone)} to ${showIso(read[1].at, zone)}, ${zone.name}${read[0].at > read[1].at ? ' (backwards)' : ''}:`,
        `${showDuration(ms)} (${Math.round(ms / 1_000)} seconds)`,
        `By the calendar: ${[...calendar, ...(restMs > 0 || calendar.length === 0 ? [showDuration(restMs)] : [])].join(', ')}`,
        `Monday to Friday: ${plural(working, 'day') || '0 days'}`,
        ...read.flatMap(describeClockChange),
      ].join('\n')
    },
  }
}

interface AddArguments {
  time?: string
  zone?: string
  years?: number
  months?: number
  weeks?: number
  days?: number
  hours?: number
  minutes?: number
  seconds?: number
}

function addTool(setting: ClockSetting): ComponentTool<AddArguments> {
  const count = { type: 'integer', minimum: -1_000_000, maximum: 1_000_000 }
  return {
    name: 'add',
    title: 'Add to a time',
    description:
      'Adds to a time, or subtracts with negative numbers. Years to days keep the time of day, also across a change of clocks; hours to seconds are exact.',
    inputSchema: {
      type: 'object',
      properties: {
        time: { ...TIME_ARGUMENT, description: `${TIME_ARGUMENT.description}; by default now` },
        zone: ZONE_ARGUMENT,
        ...Object.fromEntries(UNITS.map((unit) => [unit, count])),
      },
      additionalProperties: false,
    },
    annotations: READ_ONLY,
    run({
      time = 'now',
      zone: name,
      years = 0,
      months = 0,
      weeks = 0,
      days = 0,
      hours = 0,
      minutes = 0,
      seconds = 0,
    }) {
      const zone = resolveZone(setting, name)
      const start = readTime(time, { zone, now: setting.now() })
      const span = { years, months, days: days + weeks * 7 }
      const isExact = years === 0 && months === 0 && span.days === 0
      const moved = isExact ? { at: start.at } : toInstant(zone, addToDate(toWallTime(zone, start.at), span))
      const at = requireSupportedTime(moved.at + ((hours * 60 + minutes) * 60 + seconds) * 1_000)
      return [showTime(at, zone), ...describeClockChange({ ...moved, zone })].join('\n')
    },
  }
}

/** Describes a time that a clock change skips or repeats. */
function describeClockChange({ oddity, zone }: ZonedTime): string[] {
  if (oddity === undefined) return []
  const what =
    oddity === 'twice'
      ? 'That time occurs twice; the first is used'
      : 'That time does not exist: the clocks go forward then'
  return [`${what} (${zone.name}).`]
}

function plural(count: number, unit: string): string {
  return count === 0 ? '' : `${count} ${unit}${count === 1 ? '' : 's'}`
}

const READ_ONLY = { readOnlyHint: true, openWorldHint: false }
const UNITS = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds']
