import { test } from 'node:test'
import fc from 'fast-check'
import { makeStage } from '../../support/screen-stage.ts'

test('Screen shows a frame once under what was printed, through every resize between frames', async () => {
  const runs = { numRuns: Number(process.env['RUNS'] ?? 100) }
  await fc.assert(fc.asyncProperty(fc.array(step(), { minLength: 1, maxLength: 14 }), walk), runs)
})

type Step =
  | { do: 'print'; line: string }
  | { do: 'frame'; lines: string[]; caret: { x: number; y: number } | undefined }
  | { do: 'resize'; columns: number; rows: number; settles: boolean }

function step(): fc.Arbitrary<Step> {
  const line = fc
    .array(fc.constantFrom('a', 'b ', '漢', 'e\u0301', 'longer words ', '────'), { maxLength: 40 })
    .map((parts) => `F${parts.join('')}`.trimEnd())
  return fc.oneof(
    fc.record({ do: fc.constant('print' as const), line: line.map((text) => `P${text}`) }),
    fc.record({
      do: fc.constant('frame' as const),
      lines: fc.array(line, { maxLength: 12 }),
      caret: fc.option(fc.record({ x: fc.nat(60), y: fc.nat(11) }), { nil: undefined }),
    }),
    fc.record({
      do: fc.constant('resize' as const),
      columns: fc.integer({ min: 1, max: 300 }),
      rows: fc.integer({ min: 1, max: 120 }),
      settles: fc.boolean(),
    }),
  )
}

async function walk(steps: readonly Step[]): Promise<void> {
  using stage = makeStage({ columns: 80, rows: 24 })
  for (const step of steps) {
    if (step.do === 'print') stage.print(step.line)
    else if (step.do === 'frame') stage.show(step.lines, step.caret)
    else await stage.resize(step.columns, step.rows)
    if (step.do === 'resize' && !step.settles) continue
    await stage.settle()
    stage.check()
  }
  await stage.settle()
  stage.check()
}
