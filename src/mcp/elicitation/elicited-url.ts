import { sanitize } from '../../core/base/sanitize.ts'

/** A URL that a server asks the user to open. */
export interface ElicitedUrl {
  /** The host as it is resolved: international names in ASCII, with the port. */
  host: string
  /** The whole URL, in ASCII. */
  url: string
}

/**
 * Parses a URL; undefined unless it is http or https, printable and without a user, so that it shows where it
 * leads.
 */
export function readElicitedUrl(text: unknown): ElicitedUrl | undefined {
  if (typeof text !== 'string' || text.length > MAX_CHARS || text !== sanitize(text)) return undefined
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  return { host: url.host, url: url.href }
}

const MAX_CHARS = 2_000
