import { toIsoWeek } from './calendar.ts'
import { toWallTime } from './wall-time.ts'
import { showOffset, type Zone } from './zone.ts'

/** Formats a time in a zone, exact to the second: `2026-11-22T15:00:00+01:00`. */
export function showIso(at: number, zone: Zone): string {
  const offset = zone.offsetMs(at)
  return `${new Date(at + offset).toISOString().slice(0, 19)}${showOffset(offset)}`
}

/** Formats a time in a zone as a line: `2026-11-22T15:00:00+01:00 Europe/Berlin, CET, Sunday, week 47`. */
export function showTime(at: number, zone: Zone): string {
  const { weekday, week } = toIsoWeek(toWallTime(zone, at))
  const about = [zone.name, zone.abbreviation(at), WEEKDAYS[weekday - 1], `week ${week}`]
  return `${showIso(at, zone)} ${[...new Set(about)].filter((text) => text !== '').join(', ')}`
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
