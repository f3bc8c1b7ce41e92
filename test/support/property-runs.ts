/** Whether `npm run test:nightly` set the variable with which random tests run as often as they ask for. */
const IS_NIGHTLY = process.env['CRABTALK_TEST_NIGHTLY'] === '1'

/**
 * Returns how many random cases a property, or a loop of random steps, takes: `nightly` in the nightly run,
 * otherwise `inGate`, at most `nightly`.
 */
export function propertyRuns(nightly: number, inGate = 100): number {
  return IS_NIGHTLY ? nightly : Math.min(nightly, inGate)
}
