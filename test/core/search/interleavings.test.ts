import { test } from 'node:test'
import { playInterleavings } from '../../support/interleavings.ts'

test('TextIndex finds what brute force finds in 2,000 interleavings of add, remove, seal, merge, restore and search', async () => {
  await playInterleavings(2_000)
})
