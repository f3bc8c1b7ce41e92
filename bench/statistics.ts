/** Returns the quantile at a share from 0 to 1, interpolated between two values; NaN for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return low + (high - low) * (place - Math.floor(place))
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Returns the largest number of these ascending times within a window of that length. */
export function mostWithin(times: readonly number[], window: number): number {
  let most = 0
  let first = 0
  for (const [last, time] of times.entries()) {
    while (time - times[first]! >= window) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

/** Returns the longest gap between two consecutive ascending times; 0 for fewer than two. */
export function longestGap(times: readonly number[]): number {
  return times.slice(1).reduce((longest, time, index) => Math.max(longest, time - times[index]!), 0)
}
