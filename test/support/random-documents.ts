import type { DocumentRow, TextQuery } from '../../src/core/search/types.ts'

/** A source of random choices; the same seed gives the same sequence. */
export interface Draw {
  /** Returns an integer from 0 to `count` - 1. */
  below: (count: number) => number
  /** Returns true once in `count` times. */
  once: (count: number) => boolean
}

/** Creates a Mulberry32 generator. */
export function draws(seed: number): Draw {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return { below, once: (count) => below(count) === 0 }
}

const WORDS = Array.from({ length: 80 }, (_, rank) => `w${rank.toString(36)}x`).concat([
  'naïve',
  'Ünïcode',
  '記憶',
  '検索する',
  '한국어',
  'getUserName',
  'get_user_name',
  '🦀',
  'ภาษาไทย',
  'ß',
])

/** Draws a word; the first ones are frequent, so that lists are long and short. */
function word({ below, once }: Draw): string {
  if (once(20)) return WORDS[below(WORDS.length)]!
  return WORDS[Math.floor(WORDS.length ** (below(1000) / 1000)) - 1]!
}

/** Draws up to `most` words. */
export function randomText(draw: Draw, most: number): string {
  return Array.from({ length: draw.below(most + 1) }, () => word(draw)).join(' ')
}

/** Draws a row in which ties are likely. */
export function randomRow(draw: Draw, group: number): DocumentRow {
  const seq = draw.below(50)
  return { group, kind: draw.below(5), seq, offset: seq * 100, time: 1_700_000_000_000 + draw.below(20) }
}

const WEIGHTS = [undefined, [1.5, 1, 1.3, 2, 3], [0, 1, 7, 0.1, 2], [1, 1, 1, 1, 1, 1, 1, 1]]

/** Draws a query of any kind: with and without filters, collapsed or not, also for words that do not occur. */
export function randomQuery(draw: Draw): TextQuery {
  const { below, once } = draw
  const weights = WEIGHTS[below(WEIGHTS.length)]
  const remainder = below(3)
  return {
    text: `${randomText(draw, 5)} ${once(9) ? 'nowhere' : word(draw)}`,
    limit: 1 + below(once(10) ? 1000 : 20),
    collapse: once(2),
    ...(weights && { weights }),
    ...(once(4) && { since: 1_700_000_000_000 + below(20) }),
    ...(once(4) && { until: 1_700_000_000_000 + below(20) }),
    ...(once(4) && { accepts: (group: number) => group % 3 === remainder }),
  }
}
