/**
 * Scales numbers to whole ones that add up to `total`, as near to their shares as possible (the method of the
 * largest remainder). All are 0 when their sum is.
 */
export function apportion(numbers: readonly number[], total: number): number[] {
  const sum = numbers.reduce((before, number) => before + number, 0)
  if (sum === 0) return numbers.map(() => 0)
  const exact = numbers.map((number) => (number / sum) * total)
  const whole = exact.map(Math.floor)
  const missing = Math.round(total) - whole.reduce((before, number) => before + number, 0)
  const byRemainder = exact.map((number, at) => ({ at, rest: number - whole[at]! }))
  for (const { at } of byRemainder.toSorted((one, other) => other.rest - one.rest).slice(0, missing))
    whole[at]!++
  return whole
}
