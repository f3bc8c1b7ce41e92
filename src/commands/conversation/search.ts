import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { parseCount } from '../../cli/duration.ts'
import type { Host } from '../../cli/host.ts'
import { describeNoMatches } from '../../cli/no-matches.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { toJsonHits } from '../../core/protocol/session-hits-json.ts'
import { MAX_SESSION_HITS } from '../../core/session-search/types.ts'
import { attach } from '../../daemon/attach.ts'
import { readFilters } from './filters.ts'
import { hitLines } from './hit-lines.ts'
import { parseWhen } from './when.ts'

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
