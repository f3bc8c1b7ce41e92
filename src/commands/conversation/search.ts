import { colorize, wantsColor } from '../../cli/color.ts'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { parseCount } from '../../cli/duration.ts'
import { type ExcerptStyle, excerptLine } from '../../cli/excerpt.ts'
import { shortId } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import { describeNoMatches } from '../../cli/no-matches.ts'
import { printJson } from '../../cli/print.ts'
import { parseWhen } from '../../cli/when.ts'
import { CrabError } from '../../core/base/errors.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { listSpeakers } from '../../core/base/sender-class.ts'
import type { SessionHit, WindowItem } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { toJsonHits } from '../../core/protocol/session-hits-json.ts'
import { MAX_SESSION_HITS } from '../../core/session-search/types.ts'
import { attach } from '../../daemon/attach.ts'
import { readFilters } from './filters.ts'

/** Runs `crabtalk conversation search`: exits with 1 when nothing is found, as grep does. */
export const searchConversationsCommand: CommandHandler = async ({ options, host, signal }) => {
  const search = readSearch(options, host)
  await using attached = await attach(host, { signal })
  const found = await request(attached.dispatch, 'searchSessions', search, signal)
  if (found.partial) host.stderr.write('The index is still being built: older conversations may be missing\n')
  if (options.has('json')) printJson(host, toJsonHits(found))
  else if (found.hits.length === 0) host.stderr.write(await describeNoMatches(search.query))
  else {
    await host.stdout.write(await hitLines(found.hits, host))
    if (host.stdout.isTerminal) await printNextHint(host)
  }
  return found.hits.length === 0 ? NOTHING_FOUND : 0
}

/** The exit code when nothing is found: that of grep, for use in `if`. */
const NOTHING_FOUND = 1

function readSearch(options: ParsedOptions, host: Host) {
  const query = options.args.join(' ').trim()
  if (query === '')
    throw new CrabError('usage', 'Cannot search: no words are given', { hint: 'give words to search for' })
  const limit = parseCount('limit', options.value('limit') ?? '10', 1)
  if (limit > MAX_SESSION_HITS) {
    throw new CrabError(
      'usage',
      `Cannot use --limit ${limit}: a search returns at most ${MAX_SESSION_HITS}`,
      {
        hint: 'narrow the search with more words, --since, --agent or --here',
      },
    )
  }
  const context = parseCount('context', options.value('context') ?? '1')
  const now = new Date()
  const [since, until] = (['since', 'until'] as const).map((option) => {
    const text = options.value(option)
    return text === undefined ? '' : parseWhen(option, text, now)
  }) as [string, string]
  if (since !== '' && until !== '' && Date.parse(since) >= Date.parse(until)) {
    throw new CrabError('usage', 'Cannot search: --until is not later than --since', {
      hint: 'give an --until that is later than --since',
    })
  }
  const around = { contextBefore: context, contextAfter: context }
  return { ...readFilters(options, host), query, since, until, limit, ...around }
}

async function printNextHint(host: Host): Promise<void> {
  await host.stdout.flush()
  host.stderr.write('\nContinue one: crabtalk chat --resume ID\nRead one: crabtalk conversation show ID\n')
}

/**
 * Renders the hits of a search: a line for each conversation, then its excerpts with the match marked by `>`,
 * and a blank line between two conversations. On a terminal, lines are truncated to its width, and the match
 * to three lines; in a pipe every excerpt is one full line.
 */
async function hitLines(hits: readonly SessionHit[], host: Host): Promise<string> {
  const { default: measureWidth } = await import('string-width')
  const color = wantsColor('auto', host.env, host.stdout)
  const width = host.stdout.isTerminal ? host.columns() : Number.POSITIVE_INFINITY
  const style = { width, color, measureWidth }
  return hits.map((hit) => formatHit(hit, style, Date.now())).join('\n')
}

function formatHit(hit: SessionHit, style: ExcerptStyle, now: number): string {
  const { session, seq, window } = hit
  const match = window.find((item) => item.seq === seq)
  const when = relativeTime(match?.ts || session?.updatedAt || '', now)
  const title = session?.title || session?.preview || ''
  const pair = session && listSpeakers(session).join('/')
  const facts = [when, pair, title].filter(Boolean).join(' · ')
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
  const who = sanitizeLine(nameSpeaker(item, hit))
  const start = `${isMatch ? '>' : ' '} ${who}: `
  const lines = isMatch ? MATCH_LINES : 1
  const width = style.width * lines - style.measureWidth(start)
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
