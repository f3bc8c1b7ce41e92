import type { NewLine } from '../../src/core/storage/types.ts'
import { between, logNormal, pick, type Random, seeded } from '../random.ts'
import { makeVocabulary, type Vocabulary } from './words.ts'

/** The content of one session, deterministic for its number. */
export interface CorpusSession {
  number: number
  title: string
  /** The summary, which every fifth session has. */
  summary: string | undefined
  /** MESSAGES_PER_SESSION messages that are searched, and tool results, which are not. */
  messages: readonly CorpusMessage[]
}

/** A message of a session. */
export interface CorpusMessage {
  role: 'user' | 'assistant' | 'tool'
  /** The tool that is called, or that answers. */
  tool?: string
  text: string
}

/** A document as the engines get it; `kind` is an index into DOCUMENT_KINDS. */
export interface CorpusDocument {
  session: number
  /** The line of the message, from 1; 0 for a title or summary. */
  seq: number
  kind: number
  text: string
}

/** Sessions by number, generated on demand and never stored. */
export interface Corpus {
  vocabulary: Vocabulary
  session(number: number): CorpusSession
}

/** The number of searched messages per session; tool results do not count. */
export const MESSAGES_PER_SESSION = 50

const SEED = 0x5eed_185
const TOPIC_WORDS = 24
const TOOLS = ['bash', 'read', 'write', 'grep', 'edit', 'web_fetch', 'list', 'mcp__github__search']
const SPACES = Array.from({ length: 15 }, () => ' ')
const MARKS = [', ', ', ', '. ', '. ', '/', '(', ') ', ': ', '\n', ' "', '" ']
const BETWEEN = [...SPACES, ...MARKS]

/**
 * Creates a deterministic history: words with a Zipf distribution, a topic for each session, and some hashes
 * and numbers.
 *
 * Messages come in groups of five: a question, two tool calls with their results, two answers.
 */
export function makeCorpus(): Corpus {
  const vocabulary = makeVocabulary()
  const session = (number: number): CorpusSession => {
    const random = seeded(SEED ^ Math.imul(number + 1, 0x9e3779b1))
    const topic = Array.from(
      { length: TOPIC_WORDS },
      () => vocabulary.words[Math.floor(200 * 150 ** random())]!,
    )
    const write = (length: number) => writeText({ random, topic, vocabulary }, length)
    const title = write(between(random, 4, 9))
    const messages: CorpusMessage[] = []
    for (let at = 0; at < MESSAGES_PER_SESSION; at++) {
      const place = at % 5
      if (place === 0)
        messages.push({ role: 'user', text: write(logNormal(random, { median: 28, spread: 0.9 })) })
      else if (place > 2)
        messages.push({ role: 'assistant', text: write(logNormal(random, { median: 60, spread: 0.8 })) })
      else {
        const tool = pick(random, TOOLS)
        messages.push({
          role: 'assistant',
          tool,
          text: write(logNormal(random, { median: 35, spread: 0.8 })),
        })
        messages.push({ role: 'tool', tool, text: write(logNormal(random, { median: 80, spread: 1 })) })
      }
    }
    const summary =
      number % 5 === 0
        ? write(logNormal(random, { median: 90, spread: 0.3, least: 40, most: 200 }))
        : undefined
    return { number, title, summary, messages }
  }
  return { vocabulary, session }
}

interface Voice {
  random: Random
  topic: readonly string[]
  vocabulary: Vocabulary
}

function writeText(voice: Voice, length: number): string {
  let text = writeWord(voice)
  for (let word = 1; word < length; word++) text += pick(voice.random, BETWEEN) + writeWord(voice)
  return text
}

function writeWord({ random, topic, vocabulary }: Voice): string {
  const chance = random()
  if (chance < 0.006) return hash(random, chance < 0.003 ? 8 : 7)
  if (chance < 0.02) return String(Math.floor(10 ** (1 + random() * 4)))
  if (chance < 0.24) return topic[Math.floor(random() ** 1.6 * topic.length)]!
  return vocabulary.draw(random)
}

function hash(random: Random, length: number): string {
  return Array.from({ length }, () => between(random, 0, 16).toString(16)).join('')
}

/** Yields the documents of a session in the order of indexing: title, messages, summary. */
export function* toDocuments({ number, title, summary, messages }: CorpusSession): Generator<CorpusDocument> {
  const [USER, ASSISTANT, TOOL_USE, TITLE, SUMMARY] = [0, 1, 2, 3, 4]
  yield { session: number, seq: 0, kind: TITLE, text: title }
  for (const [index, { role, tool, text }] of messages.entries()) {
    if (role === 'tool') continue
    const kind = role === 'user' ? USER : tool ? TOOL_USE : ASSISTANT
    yield { session: number, seq: index + 1, kind, text: tool ? `${tool} ${text}` : text }
  }
  if (summary) yield { session: number, seq: 0, kind: SUMMARY, text: summary }
}

/** Returns the stored lines of a session, with its title and summary in the last one. */
export function toSessionLines({ number, title, summary, messages }: CorpusSession): NewLine[] {
  const entries = messages.map(({ role, tool, text }, at): NewLine => {
    const id = `call_${number}_${role === 'tool' ? at - 1 : at}`
    if (role === 'tool') return { kind: 'entry', role, content: text, tool_call_id: id, name: tool! }
    if (!tool) return { kind: 'entry', role, content: text }
    const call = { id, name: tool, arguments: JSON.stringify({ input: text }) }
    return { kind: 'entry', role, content: '', tool_calls: [call] }
  })
  return [...entries, { kind: 'meta', title, ...(summary && { summary }) }]
}
