import { between, seeded } from '../random.ts'
import type { Corpus } from './corpus.ts'

/** A query and its kind. */
export interface BenchQuery {
  kind: string
  text: string
}

/** The ranges of word ranks by frequency, from the first (inclusive) to the last (exclusive). */
const RANKS = { stop: [0, 25], common: [80, 800], mid: [1500, 12_000], rare: [30_000, 56_000] } as const
type Rank = keyof typeof RANKS | readonly [number, number]

/** The number of queries of each kind, and the ranks of their words. */
const SORTS: readonly [kind: string, count: number, ranks: readonly Rank[]][] = [
  ['one stop word', 10, ['stop']],
  ['one common', 10, ['common']],
  ['one', 12, ['mid']],
  ['one rare', 10, ['rare']],
  [
    'common and rare',
    15,
    [
      [40, 500],
      [8000, 40_000],
    ],
  ],
  [
    'two common',
    15,
    [
      [30, 400],
      [100, 1500],
    ],
  ],
  [
    'two',
    10,
    [
      [1000, 9000],
      [1000, 9000],
    ],
  ],
  ['stop word and two', 20, ['stop', [300, 3000], [2000, 20_000]]],
  [
    'three',
    18,
    [
      [300, 3000],
      [800, 6000],
      [2000, 20_000],
    ],
  ],
  [
    'five, natural',
    20,
    [
      [0, 20],
      [30, 300],
      [0, 20],
      [300, 4000],
      [1000, 15_000],
    ],
  ],
  [
    'five stop words',
    6,
    [
      [0, 8],
      [8, 16],
      [16, 24],
      [24, 32],
      [32, 40],
    ],
  ],
  [
    'five common',
    4,
    [
      [30, 200],
      [200, 400],
      [400, 600],
      [600, 900],
      [900, 1400],
    ],
  ],
]
const PHRASES = 40
const MISSES = 10

/** Creates 200 queries, deterministically; phrases come from the first `sessions` sessions. */
export function makeQueries(corpus: Corpus, sessions: number): BenchQuery[] {
  const random = seeded(4242)
  const { words } = corpus.vocabulary
  const word = (rank: Rank) => {
    const [low, high] = typeof rank === 'string' ? RANKS[rank] : rank
    return words[between(random, low, high)]!
  }
  const queries = SORTS.flatMap(([kind, count, ranks]) =>
    Array.from({ length: count }, () => ({ kind, text: ranks.map(word).join(' ') })),
  )
  for (let at = 0; at < PHRASES; at++) {
    const spoken = corpus.session(between(random, 0, sessions)).messages.filter(({ role }) => role !== 'tool')
    const tokens = spoken[between(random, 0, spoken.length)]!.text.split(/[^a-z0-9_.-]+/).filter(
      ({ length }) => length > 1,
    )
    const length = between(random, 3, 6)
    const from = between(random, 0, Math.max(1, tokens.length - length))
    queries.push({ kind: 'phrase', text: tokens.slice(from, from + length).join(' ') })
  }
  for (let at = 0; at < MISSES; at++) queries.push({ kind: 'nothing', text: `qzzx${at} zzqqv${at}` })
  return queries
}
