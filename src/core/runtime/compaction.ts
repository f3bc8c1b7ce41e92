import { toCancelledError } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'
import { estimateMessageTokens } from '../base/estimate-tokens.ts'
import type { Message, Usage } from '../base/message.ts'
import { sanitize } from '../base/sanitize.ts'
import { takeStart } from '../base/truncate.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import { findFreeName, findMemoryEntry } from '../memory/entries.ts'
import type { MemoryStore } from '../memory/memory-store.ts'
import type { Op } from '../memory/ops.ts'
import type { Memory } from '../memory/types.ts'
import type { Provider } from '../provider/types.ts'
import { effectiveLines } from '../storage/effective-lines.ts'
import type { SessionLine } from '../storage/types.ts'
import type { SessionHistory } from './conversation.ts'
import type { LeasedConversation } from './leased-conversation.ts'
import { quoteUser, stripUserQuotes } from './quote-user.ts'
import { summarize } from './summarize.ts'
import { toTitle } from './title.ts'

/** The result of a compaction and its cost. */
export interface Compaction {
  /** The contents of the archive, which the model reads in place of the messages. */
  summary: string
  /** The name of the archive in the agent's memory. */
  archive: string
  /** The first sentence of the summary, at most 60 characters. */
  title: string
  model: string
  usage: Usage | undefined
  costUsd: number | undefined
  /** The estimated tokens of the messages that the model sees, before and after. */
  before: number
  after: number
}

/** The conversation to compact, and what compacting it needs. */
export interface CompactionPlan {
  agent: AgentConfig
  conversation: LeasedConversation
  provider: Provider
  memory: MemoryStore
  /** The line of the first message that stays behind the summary; absent: none stays. */
  keepFrom?: number | undefined
  /** The user's wish for the summary: `focus on the API`. */
  focus?: string | undefined
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * Replaces a conversation's history by a summary: the model writes it, the agent's memory stores it as an
 * archive, and a marker in the session puts it into effect. The archive is written first, so a crash between
 * the two leaves the history as it was (ADR 0087).
 *
 * Throws `invalid` when nothing was said since the last compaction. A failure, or an abort before the archive
 * is written, changes nothing.
 */
export async function compactConversation(plan: CompactionPlan, signal: AbortSignal): Promise<Compaction> {
  const { agent, conversation, provider, memory, now, focus, keepFrom = Number.POSITIVE_INFINITY } = plan
  const { lines: all } = await conversation.readAll()
  const lines = effectiveLines(all).filter(({ seq }) => seq < keepFrom)
  const fresh = freshMessages(conversation, lines, keepFrom)
  const before = countMessageTokens(conversation)
  const model = agent.model ?? provider.defaultModel()
  provider.prepare(model)
  const answer = await summarize({ provider, model, messages: fresh, focus }, signal)
  if (signal.aborted) throw toCancelledError(signal)
  const written = takeStart(answer.text, MAX_SUMMARY)
  const { context = Number.POSITIVE_INFINITY } = provider.facts(model)
  const summary = [written, quoteUser(lines, Math.min(MAX_WORDS, Math.floor(context / 2)))].join('\n\n')
  const title = firstSentence(written)
  const at = now()
  const place = { memory, agent: agent.name, session: conversation.id, markerCount: countMarkers(all) }
  const archive = await writeArchive(place, { content: summary, title, at }, signal)
  await conversation.append(
    [
      {
        kind: 'compact',
        archive_name: archive,
        archived_at: new Date(at).toISOString(),
        title,
        ...(plan.keepFrom !== undefined && { from: plan.keepFrom }),
      },
      { kind: 'meta', summary: takeStart(written, MAX_META_SUMMARY) },
    ],
    new Map([[archive, summary]]),
  )
  const costUsd = answer.usage && provider.costUsd(model, answer.usage)
  const after = countMessageTokens(conversation)
  return { summary, archive, title, model, usage: answer.usage, costUsd, before, after }
}

/** Estimates the tokens of the messages that the model sees of a conversation. */
function countMessageTokens({ history }: { history: Pick<SessionHistory, 'messages'> }): number {
  return history.messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
}

/** Returns the first sentence of a text, without Markdown and control sequences, truncated to 60 characters. */
export function firstSentence(text: string): string {
  const line = sanitize(text)
    .split('\n')
    .map((each) => toTitle(each.replace(MARKDOWN, '')))
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

/** The marks of Markdown; underscores inside a word belong to it. */
const MARKDOWN = /[*`#>]+|(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu
const MAX_SUMMARY = 32_000
const MAX_META_SUMMARY = 2000
const MAX_TITLE = 60
/**
 * The most characters of the user's own words; half the number of tokens in the model's window where that is
 * less.
 */
const MAX_WORDS = 20_000

/**
 * The messages since the last compaction, after its summary; all messages of the session when the archive is
 * gone. Messages from the line `keepFrom` on are left out.
 */
function freshMessages(
  { history }: LeasedConversation,
  lines: readonly SessionLine[],
  keepFrom: number,
): readonly Message[] {
  const { archive } = history
  if (archive?.isThere === false) return lines.flatMap((line) => (line.kind === 'entry' ? [line] : []))
  const messages = history.messages.filter((_, at) => history.lines[at]! < keepFrom)
  const hasSummary = archive !== undefined
  const [first, ...later] = messages
  if (!hasSummary && first) return messages
  if (first && later.length > 0) return [stripUserQuotes(first), ...later] // all quotes are added again
  const since = hasSummary ? ' since the last compaction' : ' in it'
  throw new CrabError('invalid', `Cannot compact the conversation: it has no messages${since}`)
}

function countMarkers(lines: readonly SessionLine[]): number {
  return lines.filter((line) => line.kind === 'compact').length
}

/**
 * Adds an archive named `<session>-<n>`, with the title as alias (ADR 0126), and returns its name. An archive
 * that a crash left without its marker stays, and the next number is used.
 */
async function writeArchive(
  place: { memory: MemoryStore; agent: string; session: string; markerCount: number },
  { content, title, at }: { content: string; title: string; at: number },
  signal: AbortSignal,
): Promise<string> {
  const add = (before: Memory): Op => {
    let n = place.markerCount + 1
    while (findMemoryEntry(before, `${place.session}-${n}`)) n++
    const name = `${place.session}-${n}`
    const aliases = title === '' ? [] : [findFreeName(before, title)]
    return { op: 'add', createdAt: BigInt(Math.floor(at / 1000)), kind: 'archive', name, content, aliases }
  }
  return (await place.memory.apply(place.agent, add, signal)).name
}
