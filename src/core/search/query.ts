import type { TextQuery } from './types.ts'

/** A prepared query: its terms looked up, its weights and filters complete. */
export interface Query {
  /** The distinct terms in order of first occurrence, and for each its inverse frequency × (K1 + 1). */
  ids: readonly number[]
  factors: readonly number[]
  averageLength: number
  /** The weight of each kind. */
  weights: Float64Array
  /** The largest weight. */
  heaviest: number
  /** Whether the filters of the query admit a document. */
  accepts: (group: number, time: number) => boolean
}

/** Combines the filters of a query; calls its `accepts` at most once per group. */
export function toFilter({ accepts, since, until }: TextQuery): (group: number, time: number) => boolean {
  const answers = new Map<number, boolean>()
  const acceptsGroup = (group: number): boolean => {
    const known = answers.get(group)
    if (known !== undefined) return known
    const answer = accepts!(group)
    answers.set(group, answer)
    return answer
  }
  return (group, time) =>
    (since === undefined || time >= since) &&
    (until === undefined || time < until) &&
    (accepts === undefined || acceptsGroup(group))
}
