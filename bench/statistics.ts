/** The value that this share of all lies below; between two values for small numbers of them. NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return low + (high - low) * (place - Math.floor(place))
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** How many of these times, ascending, lie in the fullest window of that length. */
export function mostWithin(times: readonly number[], window: number): number {
  let most = 0
  let first = 0
  for (const [last, time] of times.entries()) {
    while (time - times[first]! >= window) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

/** The longest time between two of these, ascending; 0 of fewer. */
export function longestGap(times: readonly number[]): number {
  return times.slice(1).reduce((longest, time, index) => Math.max(longest, time - times[index]!), 0)
}
