/** Whether `npm run test:nightly` requested all random cases. */
const IS_NIGHTLY = process.env['CRABTALK_TEST_NIGHTLY'] === '1'

/**
 * Returns how many random cases a property, or a loop of random steps, runs: `nightly` in the nightly run,
 * otherwise `inGate`, at most `nightly`.
 */
export function propertyRuns(nightly: number, inGate = 100): number {
  return IS_NIGHTLY ? nightly : Math.min(nightly, inGate)
}
