/** Returns numbers from 0 (inclusive) to 1 (exclusive), deterministic for a seed. */
export type Random = () => number

/** Creates a generator for a seed (sfc32). */
export function seeded(seed: number): Random {
  let [a, b, c, count] = [seed >>> 0, 0x9e3779b9, 0x243f6a88, 1]
  const next = () => {
    const sum = (((a + b) | 0) + count) | 0
    count = (count + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  for (let warm = 0; warm < 12; warm++) next()
  return next
}

/** Returns an integer from `low` (inclusive) to `high` (exclusive). */
export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low))
}

/** Picks one of these at random. */
export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!
}

/**
 * Draws from a log-normal distribution around this median, limited to the bounds; a smaller `spread` stays
 * closer to it.
 */
export function logNormal(
  random: Random,
  {
    median,
    spread,
    least = 5,
    most = 400,
  }: { median: number; spread: number; least?: number; most?: number },
): number {
  const gauss = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.max(least, Math.min(most, Math.round(median * Math.exp(spread * gauss))))
}
