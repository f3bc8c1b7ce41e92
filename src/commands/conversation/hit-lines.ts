import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { SessionHit, WindowItem } from '../../core/protocol/crabtalk.generated.ts'
import { colorize, wantsColor } from '../color.ts'
import { type ExcerptStyle, excerptLine } from '../excerpt.ts'
import type { Host } from '../host.ts'
import { shortId } from './find.ts'

/**
 * What a search found, for people: a line for each conversation, behind it its excerpts, the match with `>`; a blank
 * line between two. Cut to a terminal's width, the match to three lines of it; in a pipe every excerpt is one whole line.
 */
export async function hitLines(hits: readonly SessionHit[], host: Host): Promise<string> {
  const { default: widthOf } = await import('string-width')
  const color = wantsColor('auto', host.env, host.stdout)
  const width = host.stdout.isTerminal ? host.columns() : Number.POSITIVE_INFINITY
  const style = { width, color, widthOf }
  return hits.map((hit) => oneHit(hit, style, Date.now())).join('\n')
}

function oneHit(hit: SessionHit, style: ExcerptStyle, now: number): string {
  const { session, seq, window } = hit
  const match = window.find((item) => item.seq === seq)
  const when = relativeTime(match?.ts || session?.updatedAt || '', now)
  const title = session?.title || session?.preview || ''
  const facts = [when, `${session?.agent}/${session?.sender}`, title].filter(Boolean).join(' · ')
  const id = shortId(session?.id ?? '')
  const room = { ...style, width: style.width - id.length - 2, color: false }
  const head = `${colorize(id, 'cyan', style.color)}  ${excerptLine({ text: facts, matches: [] }, room)}`
  const lines = window.map((item) => itemLine(item, { hit, isMatch: item === match, style }))
  return `${[head, ...lines].join('\n')}\n`
}

function itemLine(
  item: WindowItem,
  { hit, isMatch, style }: { hit: SessionHit; isMatch: boolean; style: ExcerptStyle },
): string {
  const who = sanitize(speaker(item, hit)).replaceAll(/\s+/g, ' ')
  const start = `${isMatch ? '>' : ' '} ${who}: `
  const lines = isMatch ? MATCH_LINES : 1
  const width = style.width * lines - style.widthOf(start)
  const line = excerptLine({ text: item.snippet, matches: item.matches }, { ...style, width })
  return `${isMatch ? start : colorize(start, 'dim', style.color)}${line}`
}

/** Lines of a terminal that the message which matches may take. */
const MATCH_LINES = 3

function speaker({ role, toolName }: WindowItem, { session }: SessionHit): string {
  if (role === 'user') return 'you'
  if (role === 'tool') return toolName || 'tool'
  return role === 'assistant' ? session?.agent || role : role
}
