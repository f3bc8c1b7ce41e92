import { toMention } from './menu.ts'

/**
 * Converts the path of an image, as a terminal pastes a dropped file (bare, quoted, with escaped spaces, or
 * as a `file:` URL), to a mention; undefined for any other text.
 */
export function toImageMention(pasted: string): string | undefined {
  const text = pasted.trim()
  if (text.includes('\n') || text.length > MAX_CHARS) return undefined
  const path = toPath(text)
  if (path === undefined || !ROOTED.test(path) || !IMAGE.test(path) || path.includes('"')) return undefined
  return toMention(path)
}

function toPath(text: string): string | undefined {
  if (text.startsWith('file://')) return fromAddress(text)
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(text)
  if (quoted) return quoted[1] ?? quoted[2]
  if (WINDOWS.test(text)) return text
  const isOneWord = !/(?<!\\)\s/.test(text)
  return isOneWord ? text.replaceAll(/\\(.)/g, '$1') : undefined
}

function fromAddress(text: string): string | undefined {
  try {
    const path = decodeURIComponent(new URL(text).pathname)
    return WINDOWS.test(path.slice(1)) ? path.slice(1) : path
  } catch {
    return undefined
  }
}

const MAX_CHARS = 4_096
const WINDOWS = /^[A-Za-z]:[\\/]/
const ROOTED = /^(?:\/|~\/|\.{1,2}\/|[A-Za-z]:[\\/])/
const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i
