import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { outputCleaner } from '../../../../src/core/hooks/bash/clean-output.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

test('outputCleaner() returns what a terminal would finally show', () => {
  const cases: [printed: string, shown: string][] = [
    ['plain\n\ttext', 'plain\n\ttext'],
    ['\x1b[1;31mred\x1b[0m\n', 'red\n'],
    ['\x1b]0;title\x07text', 'text'],
    ['a\r\nb\r\r\nc', 'a\nb\nc'],
    ['10%\r20%\r100%\r\ndone', '100%\ndone'],
    ['10%\r20%', '20%'],
    ['done\r', 'done'],
    ['\r\n\r', '\n'],
    ['\ra', 'a'],
    [`${'\r'.repeat(200_000)}a`, 'a'],
    ['bell\x07 and\0 nul', 'bell and nul'],
  ]
  for (const [printed, shown] of cases) assert.equal(clean([printed]), shown, JSON.stringify(printed))
})

test('outputCleaner() returns the same for any division of the output', () => {
  const piece = fc.array(fc.constantFrom('a', '%', '\r', '\n', '\x1b[1m')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.array(piece), (pieces) => assert.equal(clean(pieces), clean([pieces.join('')]))),
    { numRuns: propertyRuns(1_000) },
  )
})

test('outputCleaner() does not hold an endless line', () => {
  const filter = outputCleaner()
  assert.equal(filter(Buffer.from('x'.repeat(65_536)), false).length, 0)
  assert.equal(filter(Buffer.from('x'), false).length, 65_537)
})

function clean(pieces: readonly string[]): string {
  const filter = outputCleaner()
  const shown = pieces.map((piece) => filter(Buffer.from(piece), false).toString())
  return shown.join('') + filter(Buffer.alloc(0), true).toString()
}
