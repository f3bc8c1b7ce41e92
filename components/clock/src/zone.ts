/** A time zone. */
export interface Zone {
  /** The name for display. */
  readonly name: string
  /** Returns how far its clocks are ahead of UTC at that time, milliseconds. */
  offsetMs(at: number): number
  /** Returns the abbreviation in use at that time, such as `CET`; empty for a zone without one. */
  abbreviation(at: number): string
}

/**
 * Parses a time zone: an IANA name (`Europe/Berlin`), the city in one (`new york`), or an offset (`+05:30`).
 *
 * Letter case does not matter. Throws an error that suggests similar names.
 */
export function parseZone(name: string): Zone {
  const input = name.trim()
  const fixed = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?([0-5]\d))?$/i.exec(input)
  if (fixed) return fixedZone(fixed)
  const found = findName(input)
  if (found !== undefined) return namedZone(found)
  const similar = similarTo(input)
  const help = similar.length > 0 ? `did you mean ${similar.join(', ')}?` : 'give a name like Europe/Berlin'
  throw new Error(`"${name}" is not a time zone: ${help}`)
}

/** Formats an offset as in ISO 8601: `+01:00`. */
export function showOffset(offsetMs: number): string {
  const minutes = Math.floor(Math.abs(offsetMs) / 60_000)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

function fixedZone([, sign, hours, minutes = '0']: RegExpExecArray): Zone {
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
  if (Math.abs(offset) > 14 * 3_600_000) throw new Error(`No clock is ${sign}${hours} hours off UTC`)
  return { name: `UTC${showOffset(offset)}`, offsetMs: () => offset, abbreviation: () => '' }
}

function namedZone(name: string): Zone {
  const parts = new Intl.DateTimeFormat('en-US', { ...FIELDS, timeZone: name })
  const short = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'short' })
  return {
    name,
    offsetMs(at) {
      const field = Object.fromEntries(
        parts.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
      )
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = field
      const wall = Date.UTC(year, month - 1, day, hour, minute, second)
      return wall - Math.floor(at / 1_000) * 1_000
    },
    abbreviation(at) {
      const name = short.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
      return /^[A-Z]+$/.test(name) ? name : '' // the other abbreviations are offsets
    },
  }
}

/** Returns the canonical name of a zone; undefined for an unknown one. */
function findName(input: string): string | undefined {
  const all = Intl.supportedValuesOf('timeZone')
  const plain = normalizeName(input)
  if (plain === '') return undefined
  const known = all.find((name) => normalizeName(name) === plain)
  if (known !== undefined) return known
  const underscored = input.replaceAll(/\s+/g, '_')
  if (isZone(underscored)) return underscored.toLowerCase() === 'utc' ? 'UTC' : underscored
  const cities = all.filter((name) => normalizeName(name.split('/').at(-1)!) === plain)
  if (cities.length === 1) return cities[0]
  if (cities.length > 1) return undefined
  const region = REGIONS.find((name) => isZone(`${name}/${underscored}`)) // the list lacks newer city names
  return region && `${region}/${capitalized(underscored)}`
}

function similarTo(input: string): string[] {
  const words = normalizeName(input)
    .split(/[ /]+/)
    .filter((word) => word.length > 2)
  const all = Intl.supportedValuesOf('timeZone')
  return all.filter((name) => words.some((word) => normalizeName(name).includes(word))).slice(0, MAX_SIMILAR)
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}

function normalizeName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, ' ')
}

function capitalized(name: string): string {
  return name.toLowerCase().replaceAll(/(?<=^|_)\p{L}/gu, (letter) => letter.toUpperCase())
}

const FIELDS = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const
const REGIONS = ['Africa', 'America', 'Asia', 'Atlantic', 'Australia', 'Europe', 'Indian', 'Pacific']
const MAX_SIMILAR = 8
