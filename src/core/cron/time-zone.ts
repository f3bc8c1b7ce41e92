import { lstat } from 'node:fs/promises'

/** The link or file that holds the time zone on systems other than Windows, and is replaced when it changes. */
const ZONE_FILE = '/etc/localtime'

/** The parts of its process on which the time zone of a scheduler depends. */
export interface ZoneProcess {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Adopts the current time zone of the machine for all dates, unless the environment sets one. */
  rereadTimeZone(): void
}

/**
 * Returns a function that adopts the current time zone of the machine, and returns its name if it has
 * changed. That function never fails.
 */
export function zoneFollower(
  { rereadTimeZone }: Pick<ZoneProcess, 'rereadTimeZone'>,
  file = ZONE_FILE,
): () => Promise<string | undefined> {
  let known: Promise<string | undefined> = readLinkStamp(file)
  let name = zoneName()
  return async () => {
    const before = await known
    known = readLinkStamp(file)
    const now = await known
    if (now !== undefined && now === before) return undefined // querying the system may take a tenth of a second
    rereadTimeZone()
    const last = name
    name = zoneName()
    return name === last ? undefined : name
  }
}

/**
 * Returns the value of TZ when it looks like the name of a zone that does not exist; Node then uses UTC
 * silently.
 */
export function unknownZone(value: string | undefined): string | undefined {
  const name = value?.replace(/^:/, '') ?? ''
  if (!/^[A-Za-z]+\/[\w+/-]+$/.test(name)) return undefined // unset, or a rule such as CET-1CEST
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return undefined
  } catch {
    return name
  }
}

function zoneName(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Returns a stamp that changes with the link; undefined when there is none. */
async function readLinkStamp(file: string): Promise<string | undefined> {
  const stats = await lstat(file, { bigint: true }).catch(() => undefined) // then the system is queried each time
  return stats && `${stats.ino} ${stats.mtimeNs}`
}
