import { test } from 'node:test'
import { playInterleavings } from '../../support/interleavings.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('TextIndex matches brute force in random interleavings of add, remove, seal, merge, restore and search', async () => {
  await playInterleavings(propertyRuns(2_000, 200))
})
