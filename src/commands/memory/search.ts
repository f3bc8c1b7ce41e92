import { colorize, wantsColor } from '../../cli/color.ts'
import type { CommandHandler } from '../../cli/command.ts'
import { parseCount } from '../../cli/duration.ts'
import { excerptLine } from '../../cli/excerpt.ts'
import type { Host } from '../../cli/host.ts'
import { describeNoMatches } from '../../cli/no-matches.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { MAX_MEMORY_HITS } from '../../core/memory/types.ts'
import type { MemoryHit } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { inPairs } from '../../core/protocol/session-hits-json.ts'
import { attach } from '../../daemon/attach.ts'
import { toJsonEntry } from './entries.ts'
import { summarizeEntry } from './list.ts'

/** Runs `crabtalk memory search`: exits with 1 when nothing is found, as grep does. */
export const searchMemoriesCommand: CommandHandler = async ({ options, host, signal }) => {
  const query = options.args.join(' ').trim()
  if (query === '')
    throw new CrabError('usage', 'Cannot search: no words are given', { hint: 'give words to search for' })
  const limit = parseCount('limit', options.value('limit') ?? '10', 1)
  if (limit > MAX_MEMORY_HITS) {
    throw new CrabError('usage', `Cannot use --limit ${limit}: a search returns at most ${MAX_MEMORY_HITS}`, {
      hint: 'narrow the search with more words; crabtalk memory list shows all entries',
    })
  }
  const agent = options.value('agent') ?? ''
  await using attached = await attach(host, { signal })
  const { hits } = await request(attached.dispatch, 'searchMemory', { agent, query, limit }, signal)
  if (options.has('json')) printJson(host, { hits: hits.map(toJsonHit) })
  else if (hits.length === 0) host.stderr.write(await describeNoMatches(query))
  else await host.stdout.write(await hitLines(hits, host))
  return hits.length === 0 ? 1 : 0
}

function toJsonHit({ entry, score, matches }: MemoryHit) {
  return { ...(entry && toJsonEntry(entry)), score, matches: inPairs(matches) }
}

/**
 * Renders each hit as a line with the entry's name and other facts, and one with the content around its
 * matches.
 */
async function hitLines(hits: readonly MemoryHit[], host: Host): Promise<string> {
  const { default: measureWidth } = await import('string-width')
  const color = wantsColor('auto', host.env, host.stdout)
  const columns = host.stdout.isTerminal ? host.columns() : Number.POSITIVE_INFINITY
  const blocks = hits.map(({ entry, matches }) => {
    const facts = entry ? summarizeEntry(entry) : ''
    const head = excerptLine({ text: facts, matches: [] }, { width: columns, color: false, measureWidth })
    const style = { width: (columns - INDENT.length) * CONTENT_LINES, color, measureWidth }
    const content = excerptLine({ text: entry?.content ?? '', matches }, style)
    return `${colorize(head, 'cyan', color)}\n${INDENT}${content}\n`
  })
  return blocks.join('\n')
}

const INDENT = '  '
/** The number of terminal lines that a content may take. */
const CONTENT_LINES = 3
