import { colorize, wantsColor } from '../../cli/color.ts'
import { type ExcerptStyle, excerptLine } from '../../cli/excerpt.ts'
import type { Host } from '../../cli/host.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { SessionHit, WindowItem } from '../../core/protocol/crabtalk.generated.ts'
import { shortId } from './find.ts'

/**
 * Renders the hits of a search: a line for each conversation, then its excerpts with the match marked by `>`,
 * and a blank line between two conversations. On a terminal, lines are truncated to its width, and the match
 * to three lines; in a pipe every excerpt is one full line.
 */
export async function hitLines(hits: readonly SessionHit[], host: Host): Promise<string> {
  const { default: widthOf } = await import('string-width')
  const color = wantsColor('auto', host.env, host.stdout)
  const width = host.stdout.isTerminal ? host.columns() : Number.POSITIVE_INFINITY
  const style = { width, color, widthOf }
  return hits.map((hit) => formatHit(hit, style, Date.now())).join('\n')
}

function formatHit(hit: SessionHit, style: ExcerptStyle, now: number): string {
  const { session, seq, window } = hit
  const match = window.find((item) => item.seq === seq)
  const when = relativeTime(match?.ts || session?.updatedAt || '', now)
  const title = session?.title || session?.preview || ''
  const facts = [when, `${session?.agent}/${session?.sender}`, title].filter(Boolean).join(' · ')
  const id = shortId(session?.id ?? '')
  const room = { ...style, width: style.width - id.length - 2, color: false }
  const head = `${colorize(id, 'cyan', style.color)}  ${excerptLine({ text: facts, matches: [] }, room)}`
  const lines = window.map((item) => formatItem(item, { hit, isMatch: item === match, style }))
  return `${[head, ...lines].join('\n')}\n`
}

function formatItem(
  item: WindowItem,
  { hit, isMatch, style }: { hit: SessionHit; isMatch: boolean; style: ExcerptStyle },
): string {
  const who = sanitize(nameSpeaker(item, hit)).replaceAll(/\s+/g, ' ')
  const start = `${isMatch ? '>' : ' '} ${who}: `
  const lines = isMatch ? MATCH_LINES : 1
  const width = style.width * lines - style.widthOf(start)
  const line = excerptLine({ text: item.snippet, matches: item.matches }, { ...style, width })
  return `${isMatch ? start : colorize(start, 'dim', style.color)}${line}`
}

/** The number of terminal lines that the matching message may take. */
const MATCH_LINES = 3

function nameSpeaker({ role, toolName }: WindowItem, { session }: SessionHit): string {
  if (role === 'user') return 'you'
  if (role === 'tool') return toolName || 'tool'
  return role === 'assistant' ? session?.agent || role : role
}
