import { between, pick, type Random, seeded } from '../random.ts'
import { type Filler, readFiller } from './filler.ts'
import { type LabelledQuery, readScenarios, type Scenario, type Turn } from './scenarios.ts'

/** A session of the history, as it is checked in. */
export interface HistorySession {
  /** Of the family it belongs to; empty for everyday talk nobody looks for. */
  family: string
  /** ISO 8601, of its beginning. */
  at: string
  title: string
  summary: string
  turns: readonly Turn[]
  queries: readonly LabelledQuery[]
}

const SEED = 1851
/** Sessions that nobody looks for. */
const EVERYDAY = 900
/** How often a conversation is quoted in others. */
const QUOTES = 3
const START = Date.UTC(2025, 0, 6)
const SPAN_MS = 680 * 86_400_000

/**
 * Two years of conversations, always the same: those of the scenarios within other talk, and EVERYDAY others, which
 * quote them now and then. Nothing here looks at a query.
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
  return shuffle(sessions, random).map((session, at) => ({ ...session, at: timeOf(at, sessions.length) }))
}

interface Making {
  filler: Filler
  random: Random
}

/** The scenario in the middle of other matters, more or less of them. */
function embed({ family, topic, title, summary, turns, queries }: Scenario, making: Making): Draft {
  const before = talk(topic, making, between(making.random, 0, 3))
  const after = talk(topic, making, between(making.random, 1, 8))
  // a client sets titles, so many conversations have none
  const kept = making.random() < 0.6 ? title : ''
  return { family, title: kept, summary, turns: [...before, ...turns, ...after], queries }
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

/** Exchanges of that topic, one in six of another. */
function talk(topic: string, { filler, random }: Making, exchanges: number): Turn[] {
  return Array.from({ length: exchanges }, () => {
    const about = random() < 1 / 6 ? pick(random, filler.topics) : topic
    return filler.exchange(about, random)
  }).flat()
}

function summarize(turns: readonly Turn[]): string {
  const said = turns.filter(({ by }) => by === 'assistant').map(({ text }) => text.split(/[.:;]/)[0])
  return said.slice(0, 4).join('. ')
}

/** What people say when they come back to something: some words of it, and nothing else of it. */
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

/** Before a question, so that it is one more of the same person. */
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

function timeOf(at: number, count: number): string {
  return new Date(START + Math.floor((at / count) * SPAN_MS)).toISOString()
}
