import { CrabError } from './errors.ts'

/** The name of the token that the daemon creates by itself, in run/tcp.token. */
export const BUILT_IN_TOKEN = 'tcp'

/** Names that tokens cannot have, because senders that begin with them have a special meaning. */
const RESERVED: ReadonlySet<string> = new Set(['sh', 'cron', 'event', 'delegate', 'user'])
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/

/** Whether a token may have that name. */
export function isTokenName(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name)
}

/** Throws `usage` when a token cannot have that name. */
export function checkTokenName(name: string): void {
  if (isTokenName(name)) return
  const why = RESERVED.has(name)
    ? `senders that start with "${name}" have a special meaning`
    : 'it must be 1 to 32 of a-z, 0-9, _ and -, and start with a letter or a digit'
  throw new CrabError('usage', `Cannot name a token "${name}": ${why}`, { hint: 'for example telegram' })
}
