import { toCancelledError } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'
import type { Message, Usage } from '../base/message.ts'
import { sanitize } from '../base/sanitize.ts'
import { takeStart } from '../base/truncate.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import { findFreeName, findMemoryEntry } from '../memory/entries.ts'
import type { MemoryStore } from '../memory/memory-store.ts'
import type { Op } from '../memory/ops.ts'
import type { Memory } from '../memory/types.ts'
import type { Provider } from '../provider/types.ts'
import type { SessionLine } from '../storage/types.ts'
import type { LeasedConversation } from './leased-conversation.ts'
import { quoteUser, stripUserQuotes } from './quote-user.ts'
import { summarize } from './summarize.ts'
import { toTitle } from './title.ts'

/** What a compaction left, and what it took. */
export interface Compaction {
  /** What the model reads from now on in place of the messages: the archive's content. */
  summary: string
  /** Name of the archive in the agent's memory. */
  archive: string
  /** The first sentence of the summary, at most 60 characters. */
  title: string
  model: string
  usage: Usage | undefined
  costUsd: number | undefined
}

/** Whose conversation is compacted, and with what. */
export interface CompactionPlan {
  agent: AgentConfig
  conversation: LeasedConversation
  provider: Provider
  memory: MemoryStore
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * Replaces a conversation's history by a summary: the model writes it, the agent's memory keeps it as an archive, a
 * marker in the session makes it count. The archive comes first: a crash between them leaves the history as it was.
 *
 * Throws `invalid` when nothing was said since the last time. A failure, or an abort before the archive is written,
 * changes nothing.
 */
export async function compactConversation(plan: CompactionPlan, signal: AbortSignal): Promise<Compaction> {
  const { agent, conversation, provider, memory, now } = plan
  const { lines } = await conversation.readAll()
  const fresh = freshMessages(conversation, lines)
  const model = agent.model ?? provider.defaultModel()
  provider.prepare(model)
  const said = await summarize({ provider, model, messages: fresh }, signal)
  if (signal.aborted) throw toCancelledError(signal)
  const written = takeStart(said.text, MAX_SUMMARY)
  const { context = Number.POSITIVE_INFINITY } = provider.facts(model)
  const summary = [written, quoteUser(lines, Math.min(MAX_WORDS, Math.floor(context / 2)))].join('\n\n')
  const title = firstSentence(written)
  const at = now()
  const place = { memory, agent: agent.name, session: conversation.id, made: countMarkers(lines) }
  const archive = await writeArchive(place, { content: summary, title, at }, signal)
  await conversation.append(
    [
      { kind: 'compact', archive_name: archive, archived_at: new Date(at).toISOString(), title },
      { kind: 'meta', summary: takeStart(written, MAX_META_SUMMARY) },
    ],
    new Map([[archive, summary]]),
  )
  const costUsd = said.usage && provider.costUsd(model, said.usage)
  return { summary, archive, title, model, usage: said.usage, costUsd }
}

/** The first sentence of a text of at most 60 characters, without Markdown and what a terminal would obey; the beginning of a longer one. */
export function firstSentence(text: string): string {
  const line = sanitize(text)
    .split('\n')
    .map((each) => toTitle(each.replace(/[*_`#>]+/g, '')))
    .find(Boolean)
  const [sentence = ''] = /^.*?(?:[.!?](?=\s|$)|[。！？])/u.exec(line ?? '') ?? [line]
  const chars = [...sentence]
  return chars.length <= MAX_TITLE
    ? sentence
    : `${chars
        .slice(0, MAX_TITLE - 1)
        .join('')
        .trimEnd()}…`
}

const MAX_SUMMARY = 32_000
const MAX_META_SUMMARY = 2000
const MAX_TITLE = 60
/** Characters of the user's words; half as many as the model's window has tokens, where that is less. */
const MAX_WORDS = 20_000

/** What was said since the last compaction, behind what that one left; all of the session where that is gone. */
function freshMessages(
  { history: { messages, archive } }: LeasedConversation,
  lines: readonly SessionLine[],
): readonly Message[] {
  if (archive?.isThere === false) return lines.flatMap((line) => (line.kind === 'entry' ? [line] : []))
  const [summary, ...later] = messages
  if (!archive && summary) return messages
  if (summary && later.length > 0) return [stripUserQuotes(summary), ...later] // the words are added anew, all of them
  const since = archive ? ' since the last compaction' : ' in it'
  throw new CrabError('invalid', `Cannot compact the conversation: nothing was said${since}`)
}

function countMarkers(lines: readonly SessionLine[]): number {
  return lines.filter((line) => line.kind === 'compact').length
}

/** Names it `<session>-<n>` with the title as alias (decision 34); one that a crash left without its marker stays. */
async function writeArchive(
  place: { memory: MemoryStore; agent: string; session: string; made: number },
  { content, title, at }: { content: string; title: string; at: number },
  signal: AbortSignal,
): Promise<string> {
  const add = (before: Memory): Op => {
    let n = place.made + 1
    while (findMemoryEntry(before, `${place.session}-${n}`)) n++
    const name = `${place.session}-${n}`
    const aliases = title === '' ? [] : [findFreeName(before, title)]
    return { op: 'add', createdAt: BigInt(Math.floor(at / 1000)), kind: 'archive', name, content, aliases }
  }
  return (await place.memory.apply(place.agent, add, signal)).name
}
