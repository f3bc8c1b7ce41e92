import { parseZone, type Zone } from './zone.ts'

/** What the clock's tools need. */
export interface ClockSetting {
  /** The time zone of this machine. */
  zone: string
  now(): number
}

/** The zone that a call names; without one that of this machine. */
export function resolveZone({ zone }: ClockSetting, name: string | undefined): Zone {
  return parseZone(name === undefined || /^(local|here)?$/i.test(name.trim()) ? zone : name)
}

/** Of what is read word by word: nobody writes longer ones. */
export const MAX_ARGUMENT_CHARS = 100

/** As an argument of tools. */
export const ZONE_ARGUMENT = {
  type: 'string',
  maxLength: MAX_ARGUMENT_CHARS,
  description: 'Such as Europe/Berlin, tokyo, UTC or +05:30; without it, that of this machine',
}
/** As an argument of tools. */
export const TIME_ARGUMENT = {
  type: 'string',
  maxLength: MAX_ARGUMENT_CHARS,
  description:
    'now, 2026-11-22T15:00, 2026-11-22T15:00Z, 2026-11-22, 15:00, 3pm, tomorrow 9:30 or @1795327200 (Unix seconds)',
}
