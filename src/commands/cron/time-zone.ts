import { lstat } from 'node:fs/promises'
import type { Host } from '../host.ts'

/** Where systems other than Windows say it: a link, or a file, that is another one after a change. */
const ZONE_FILE = '/etc/localtime'

/**
 * Gives a function that takes up the time zone which the machine is in by then, and gives its name when it is another
 * one than before. It never fails.
 */
export function zoneFollower(
  { rereadTimeZone }: Pick<Host, 'rereadTimeZone'>,
  file = ZONE_FILE,
): () => Promise<string | undefined> {
  let known: Promise<string | undefined> = readLinkStamp(file)
  let name = zoneName()
  return async () => {
    const before = await known
    known = readLinkStamp(file)
    const now = await known
    if (now !== undefined && now === before) return undefined // asking the system may take a tenth of a second
    rereadTimeZone()
    const last = name
    name = zoneName()
    return name === last ? undefined : name
  }
}

/** The value of TZ when it looks like the name of a zone that does not exist; Node then takes UTC silently. */
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

/** What tells one link from another; undefined where there is none. */
async function readLinkStamp(file: string): Promise<string | undefined> {
  const stats = await lstat(file, { bigint: true }).catch(() => undefined) // then the system is asked each time
  return stats && `${stats.ino} ${stats.mtimeNs}`
}
