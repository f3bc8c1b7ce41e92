import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fitSections, type Section } from '../../../src/tui/view/section.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const section = fc.record({
  lines: fc.array(fc.stringMatching(/^[a-z]{0,5}$/), { maxLength: 60 }),
  cut: fc.constantFrom('head' as const, 'tail' as const),
  rank: fc.nat(9),
})

test('fitSections() never exceeds its height, and loses nothing while there is room', () => {
  fc.assert(
    fc.property(fc.array(section, { maxLength: 8 }), fc.integer({ min: -2, max: 200 }), (sections, most) => {
      const all = sections.flatMap(({ lines }) => lines)
      const { lines } = fitSections(sections, most)
      assert.ok(lines.length <= Math.max(0, most))
      assert.equal(lines.length, Math.min(Math.max(0, most), all.length))
      if (all.length <= most) assert.deepEqual(lines, all)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('fitSections() cuts the lowest rank first, at the side it names', () => {
  const growing: Section = { lines: ['1', '2', '3', '4'], cut: 'head', rank: 1 }
  const prompt: Section = { lines: ['>'], caret: { x: 2, y: 0 }, cut: 'head', rank: 9 }
  const status: Section = { lines: ['status'], cut: 'tail', rank: 5 }
  const sections = [growing, prompt, status]
  assert.deepEqual(fitSections(sections, 4), { lines: ['3', '4', '>', 'status'], caret: { x: 2, y: 2 } })
  assert.deepEqual(fitSections(sections, 2), { lines: ['>', 'status'], caret: { x: 2, y: 0 } })
  assert.deepEqual(fitSections(sections, 1), { lines: ['>'], caret: { x: 2, y: 0 } })
})

test('fitSections() keeps the caret on its line, or has none when that line is gone', () => {
  fc.assert(
    fc.property(fc.array(section, { maxLength: 5 }), fc.nat(20), fc.nat(60), (sections, y, most) => {
      const lines = Array.from({ length: y + 1 }, (_, at) => (at === y ? 'HERE' : 'prompt'))
      const prompt: Section = { lines, caret: { x: 0, y }, cut: 'head', rank: 5 }
      const fitted = fitSections([...sections, prompt, ...sections], most)
      const at = fitted.lines.indexOf('HERE')
      assert.equal(fitted.caret?.y ?? -1, at)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
