/**
 * Parses a duration to milliseconds: `90` (seconds), `90s`, `10 minutes`, `1h 30m`, `1:30:00`, `2 days`.
 *
 * Throws an error that lists the accepted forms.
 */
export function readDuration(text: string): number {
  const input = text.trim().toLowerCase()
  const colons = /^(?:(\d+):)?(\d+):(\d\d)$/.exec(input)
  if (colons) {
    const [hours, minutes, seconds] = colons.slice(1).map((part) => Number(part ?? 0)) as [
      number,
      number,
      number,
    ]
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000
  }
  if (/^\d+(\.\d+)?$/.test(input)) return Math.round(Number(input) * 1_000)
  const parts = [...input.matchAll(PART)]
  const isAll = parts.map(([part]) => part).join('') === input
  if (input === '' || !isAll)
    throw new Error(`"${text}" is not a duration: write 90s, 10 minutes, 1h 30m or 1:30:00`)
  const sum = parts.reduce((ms, [, count, unit]) => ms + Number(count) * UNITS[unit![0]!]!, 0)
  return Math.round(sum)
}

/** Formats a duration: `1 d 2 h`, `4 min 5 s`; exact to the second. */
export function showDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const words = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`)
  return words.join(' ') || '0 s'
}

const PART =
  /\s*(\d+(?:\.\d+)?)\s*(weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])(?:,|\s+and\b)?/g
const UNITS: Readonly<Record<string, number>> = {
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
}
