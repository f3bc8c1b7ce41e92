import { between, pick, type Random, seeded } from '../random.ts'
import { type Filler, readFiller } from './filler.ts'
import { type LabelledQuery, readScenarios, type Scenario, type Turn } from './scenarios.ts'

/** A session of the history, as stored in the repository. */
export interface HistorySession {
  /** The family of its scenario; empty for everyday talk that no query looks for. */
  family: string
  /** The start of the session, in ISO 8601. */
  at: string
  title: string
  summary: string
  turns: readonly Turn[]
  queries: readonly LabelledQuery[]
}

const SEED = 1851
/** The number of sessions that no query looks for. */
const EVERYDAY = 900
/** The number of times a conversation is quoted in others. */
const QUOTES = 3
const START = Date.UTC(2025, 0, 6)
const SPAN_MS = 680 * 86_400_000

/**
 * Creates two years of conversations, deterministically: those of the scenarios, surrounded by other talk,
 * and EVERYDAY others that occasionally quote them. Nothing here depends on a query.
 */
export function makeHistory(): HistorySession[] {
  const random = seeded(SEED)
  const filler = readFiller()
  const scenarios = readScenarios()
  const quotes = scenarios.flatMap((scenario) =>
    Array.from({ length: QUOTES }, () => ({ topic: scenario.topic, turn: quote(scenario, random) })),
  )
  const sessions = [
    ...scenarios.map((scenario) => embed(scenario, { filler, random })),
    ...Array.from({ length: EVERYDAY }, () => everyday({ filler, random })),
  ]
  for (const { turn } of quotes) insert(pick(random, sessions), turn, random)
  return shuffle(sessions, random).map((session, at) => ({ ...session, at: toTime(at, sessions.length) }))
}

interface Making {
  filler: Filler
  random: Random
}

/** Puts the scenario between exchanges about other matters, in varying numbers. */
function embed({ family, topic, title, summary, turns, queries }: Scenario, making: Making): Draft {
  const before = talk(topic, making, between(making.random, 0, 3))
  const after = talk(topic, making, between(making.random, 1, 8))
  // clients set titles, and not every client does
  const sessionTitle = making.random() < 0.6 ? title : ''
  return { family, title: sessionTitle, summary, turns: [...before, ...turns, ...after], queries }
}

type Draft = Omit<HistorySession, 'at'> & { turns: Turn[] }

function everyday(making: Making): Draft {
  const { filler, random } = making
  const topic = pick(random, filler.topics)
  const turns = talk(topic, making, between(random, 2, 14))
  const [first] = turns
  const title = random() < 0.4 ? first!.text.slice(0, 48) : ''
  const summary = random() < 0.15 ? summarize(turns) : ''
  return { family: '', title, summary, turns, queries: [] }
}

/** Creates exchanges about a topic; one in six is about another. */
function talk(topic: string, { filler, random }: Making, exchanges: number): Turn[] {
  return Array.from({ length: exchanges }, () => {
    const about = random() < 1 / 6 ? pick(random, filler.topics) : topic
    return filler.exchange(about, random)
  }).flat()
}

function summarize(turns: readonly Turn[]): string {
  const answers = turns.filter(({ by }) => by === 'assistant').map(({ text }) => text.split(/[.:;]/)[0])
  return answers.slice(0, 4).join('. ')
}

/** Creates a message of a user who returns to something: a few words of the scenario and nothing else of it. */
function quote({ turns }: Scenario, random: Random): Turn {
  const spoken = turns.filter(({ by }) => by === 'user' || by === 'assistant')
  const words = pick(random, spoken).text.split(' ')
  const length = between(random, 4, 13)
  const from = between(random, 0, Math.max(1, words.length - length))
  const part = words.slice(from, from + length).join(' ')
  const lead = pick(random, [
    'You once told me',
    'I read again',
    'Last time it was',
    'My note says',
    'Is this still true',
  ])
  return { by: 'user', text: `${lead}: ${part} …` }
}

/** Inserts a turn before a question, so that it reads like another one of the same person. */
function insert({ turns }: Draft, turn: Turn, random: Random): void {
  const places = turns.flatMap(({ by }, at) => (by === 'user' ? [at] : []))
  turns.splice(pick(random, places), 0, turn, { by: 'assistant', text: pick(random, ANSWERS) })
}

const ANSWERS = [
  'Yes, as far as I can tell from here that has not changed.',
  'I have no note of that, but it sounds right.',
  'That was in another conversation; what would you like to do with it?',
  'Noted. Let us go on with the matter at hand.',
]

function shuffle<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((value) => ({ value, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ value }) => value)
}

function toTime(at: number, count: number): string {
  return new Date(START + Math.floor((at / count) * SPAN_MS)).toISOString()
}
