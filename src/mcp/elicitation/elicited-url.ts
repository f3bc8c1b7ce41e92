import { sanitize } from '../../core/base/sanitize.ts'

/** An address that a server wants a person to open. */
export interface ElicitedUrl {
  /** As it is looked up: international names in their ASCII form, with the port. */
  host: string
  /** The whole of it, in ASCII. */
  url: string
}

/** The address, when it is one of the web that shows where it leads; undefined for any other. */
export function readElicitedUrl(text: unknown): ElicitedUrl | undefined {
  if (typeof text !== 'string' || text.length > MAX_CHARS || text !== sanitize(text)) return undefined
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  return { host: url.host, url: url.href }
}

const MAX_CHARS = 2_000
