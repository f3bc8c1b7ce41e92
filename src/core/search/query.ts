import type { TextQuery } from './types.ts'

/** A query as it is evaluated. */
export interface Query {
  /** Distinct terms in the order they first stand in it, and of each its inverse frequency × (K1 + 1). */
  ids: readonly number[]
  factors: readonly number[]
  averageLength: number
  /** By kind. */
  weights: Float64Array
  /** The largest of them. */
  heaviest: number
  /** Whether a document may be a hit, by what is no score. */
  accepts: (group: number, time: number) => boolean
}

/** The filters of a query as one; `accepts` of the query is asked once for each group. */
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
