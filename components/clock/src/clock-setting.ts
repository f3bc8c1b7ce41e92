import { parseZone, type Zone } from './zone.ts'

/** The dependencies of the clock's tools. */
export interface ClockSetting {
  /** The time zone of this machine. */
  zone: string
  now(): number
}

/** Parses the zone that a call names; by default that of this machine. */
export function resolveZone({ zone }: ClockSetting, name: string | undefined): Zone {
  return parseZone(name === undefined || /^(local|here)?$/i.test(name.trim()) ? zone : name)
}

/** The maximum length of arguments that are parsed; nothing meaningful is longer. */
export const MAX_ARGUMENT_CHARS = 100

/** The schema of a time zone argument. */
export const ZONE_ARGUMENT = {
  type: 'string',
  maxLength: MAX_ARGUMENT_CHARS,
  description: 'Such as Europe/Berlin, tokyo, UTC or +05:30; by default that of this machine',
}
/** The schema of a time argument. */
export const TIME_ARGUMENT = {
  type: 'string',
  maxLength: MAX_ARGUMENT_CHARS,
  description:
    'now, 2026-11-22T15:00, 2026-11-22T15:00Z, 2026-11-22, 15:00, 3pm, tomorrow 9:30 or @1795327200 (Unix seconds)',
}
