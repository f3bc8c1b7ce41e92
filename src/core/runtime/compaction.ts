import { toCancelled } from '../base/cancelled.ts'
import { headOf } from '../base/cut.ts'
import { CrabError } from '../base/errors.ts'
import type { Message, Usage } from '../base/message.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import { addEntry, findEntry, freeName } from '../memory/entries.ts'
import type { MemoryStore } from '../memory/memory-store.ts'
import type { Memory } from '../memory/types.ts'
import type { Provider } from '../provider/types.ts'
import type { SessionLine } from '../storage/types.ts'
import { askModel } from './ask-model.ts'
import { COMPACTION_PROMPT, quoteConversation } from './compaction-prompt.ts'
import type { HeldConversation } from './held-conversation.ts'
import { shorten, toTranscript } from './transcript.ts'

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
  conversation: HeldConversation
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
  const { context } = provider.facts(model)
  const transcript = toTranscript(fresh, context === undefined ? MAX_TRANSCRIPT : context * CHARS_PER_TOKEN)
  const content = quoteConversation(transcript, 'Write the summary now.')
  const said = await askModel(
    provider,
    {
      what: 'Cannot compact the conversation',
      model,
      system: COMPACTION_PROMPT,
      messages: [{ role: 'user', content }],
      thinking: false,
      maxOutputTokens: Math.min(MAX_OUTPUT_TOKENS, Math.ceil((context ?? Number.POSITIVE_INFINITY) / 4)),
    },
    signal,
  )
  if (signal.aborted) throw toCancelled(signal)
  const written = headOf(said.text, MAX_SUMMARY)
  const summary = [written, wordsOfUser(lines, Math.min(MAX_WORDS, context ?? MAX_WORDS))].join('\n\n')
  const title = firstSentence(written)
  const at = now()
  const place = { memory, agent: agent.name, session: conversation.id, made: countMarkers(lines) }
  const archive = await writeArchive(place, { content: summary, title, at }, signal)
  await conversation.append(
    [
      { kind: 'compact', archive_name: archive, archived_at: new Date(at).toISOString(), title },
      { kind: 'meta', summary: headOf(written, MAX_META_SUMMARY) },
    ],
    new Map([[archive, summary]]),
  )
  const costUsd = said.usage && provider.costUsd(model, said.usage)
  return { summary, archive, title, model, usage: said.usage, costUsd }
}

/** The first sentence of a text of at most 60 characters, without Markdown; the beginning of a longer one. */
export function firstSentence(text: string): string {
  const line = text
    .split('\n')
    .map((each) => each.replace(/[*_`#>]+/g, '').trim())
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

/** Characters a token has at least, on average, in whatever language; so a transcript fits where a turn no longer does. */
const CHARS_PER_TOKEN = 2
const MAX_TRANSCRIPT = 600_000
const MAX_OUTPUT_TOKENS = 8000
const MAX_SUMMARY = 32_000
const MAX_META_SUMMARY = 2000
const MAX_TITLE = 60
/** Characters of all the user's words, and of one message. */
const MAX_WORDS = 20_000
const MAX_WORDS_AT_ONCE = 2000

const WORDS_HEADING = '## What the user said, word for word'

/** What was said since the last compaction, behind what that one left; all of the session where that is gone. */
function freshMessages(
  { history: { messages, archive } }: HeldConversation,
  lines: readonly SessionLine[],
): readonly Message[] {
  if (archive?.isThere === false) return lines.flatMap((line) => (line.kind === 'entry' ? [line] : []))
  if (messages.length > (archive ? 1 : 0)) return archive ? messages.map(withoutWords) : messages
  const since = archive ? ' since the last compaction' : ' in it'
  throw new CrabError('invalid', `Cannot compact the conversation: nothing was said${since}`)
}

/** The user's words are added anew from the session, all of them. */
function withoutWords(message: Message, index: number): Message {
  const at = index === 0 ? message.content.lastIndexOf(`\n\n${WORDS_HEADING}`) : -1
  return at < 0 ? message : { ...message, content: message.content.slice(0, at) }
}

/** The user's messages as they were written; where they are too many, the last ones. */
function wordsOfUser(lines: readonly SessionLine[], maxChars: number): string {
  const quotes: string[] = []
  let chars = 0
  const messages = lines.flatMap((line) =>
    line.kind === 'entry' && line.role === 'user' ? [line.content] : [],
  )
  for (const content of messages.toReversed()) {
    const quote = shorten(content.trim(), MAX_WORDS_AT_ONCE).replace(/^/gm, '> ')
    chars += quote.length
    if (chars > maxChars && quotes.length > 0) break
    quotes.unshift(quote)
  }
  const left = messages.length - quotes.length
  const note = left > 0 ? `(${left} earlier messages are left out.)\n\n` : ''
  return `${WORDS_HEADING}\n\n${note}${quotes.join('\n\n')}`
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
  let name = ''
  const add = (before: Memory) => {
    let n = place.made + 1
    while (findEntry(before, `${place.session}-${n}`)) n++
    name = `${place.session}-${n}`
    const aliases = title === '' ? [] : [freeName(before, title)]
    return addEntry(before, {
      createdAt: BigInt(Math.floor(at / 1000)),
      kind: 'archive',
      name,
      content,
      aliases,
    })
  }
  await place.memory.change(place.agent, add, signal)
  return name
}
