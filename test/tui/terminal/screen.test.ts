import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Reflow } from '../../../src/tui/terminal/reflow.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { makeScreenHarness } from '../../support/screen-harness.ts'

for (const [reflow, terminal] of [
  ['xterm.js', 'wraps lines anew'],
  ['none', 'cuts lines'],
] as const) {
  test(`Screen shows a frame once below the printed lines, through every resize of a terminal that ${terminal}`, async () => {
    const steps = fc.array(step(), { minLength: 1, maxLength: 14 })
    const numRuns = propertyRuns(300, 30)
    const seed = Number(process.env['SEED'] ?? 20)
    await fc.assert(
      fc.asyncProperty(steps, (applied) => walk(applied, reflow)),
      { numRuns, seed },
    )
  })
}

test('Screen draws nothing during a series of resizes, then once for the last size, and rests', async () => {
  using stage = makeScreenHarness({ columns: 80, rows: 24, intervalMs: 800 })
  stage.show(['Fframe'])
  await stage.settle()
  const widths: number[] = []
  using _listening = stage.screen.onResize(({ columns }) => widths.push(columns))
  const before = stage.bytes()
  for (const columns of [70, 60, 50]) await stage.resize(columns, 24)
  stage.show(['Fother'])
  await stage.flush()
  assert.deepEqual([widths, stage.screen.isQuiet, stage.screen.ink.columns], [[], false, 80])
  assert.equal(stage.bytes(), before)
  await stage.settle()
  assert.deepEqual([widths, stage.screen.isQuiet, stage.screen.ink.columns], [[50], true, 50])
  stage.check()
})

test('Screen asks the terminal for its size before it draws, and draws nothing for an old size', async () => {
  using stage = makeScreenHarness({ columns: 80, rows: 24, intervalMs: 300 })
  stage.show(['Fframe'])
  await stage.settle()
  const size = { columns: 80, rows: 24 }
  const refreshSize = () => {
    if (stage.output.columns !== size.columns) stage.output.emit('resize', Object.assign(stage.output, size))
  }
  Object.assign(stage.output, { _refreshSize: refreshSize })
  size.columns = 50
  stage.terminal.resize(50, 24)
  const before = stage.bytes()
  stage.show(['Fother'])
  await stage.flush()
  assert.deepEqual([stage.bytes(), stage.screen.isQuiet], [before, false])
  await stage.settle()
  assert.equal(stage.screen.ink.columns, 50)
  stage.check()
})

test('Screen holds frames back while the terminal accepts no bytes, and draws the last one', async () => {
  using stage = makeScreenHarness({ columns: 80, rows: 24 })
  await stage.settle()
  const before = stage.bytes()
  stage.output.writableNeedDrain = true
  stage.show(['Ffirst'])
  stage.print('Pprinted')
  stage.show(['Fsecond'])
  await stage.flush()
  assert.equal(stage.bytes(), before)
  stage.output.writableNeedDrain = false
  stage.output.emit('drain')
  await stage.settle()
  stage.check()
  assert.doesNotMatch(stage.bytes(), /first/)
})

test('Screen writes nothing after the terminal is gone, and reports it once', async () => {
  const reasons: string[] = []
  using stage = makeScreenHarness({ columns: 80, rows: 24, onGone: ({ message }) => reasons.push(message) })
  await stage.settle()
  for (const word of ['EIO', 'EPIPE']) stage.output.emit('error', new Error(word))
  const before = stage.bytes()
  stage.show(['Fframe'])
  await stage.flush()
  assert.deepEqual([stage.bytes(), reasons], [before, ['EIO']])
})

test('Screen.restoring() resets the modes that are on, below the frame', async () => {
  using stage = makeScreenHarness({ columns: 80, rows: 24 })
  stage.show(['Fone', 'Ftwo', 'Fthree'], { x: 2, y: 0 })
  await stage.settle()
  stage.screen.ink.write(`${ESC}[?2004h`)
  stage.screen.ink.write(`${ESC}[>1u`)
  const under = `\n\n\r\n`
  assert.equal(stage.screen.restoring(), `${ESC}[?2026l${under}${ESC}[<u${ESC}[?2004l${ESC}[0m${ESC}[?25h`)
  stage.screen.ink.write(`${ESC}[?2004l`)
  assert.equal(stage.screen.restoring(), `${ESC}[?2026l${ESC}[<u${ESC}[0m${ESC}[?25h`)
})

test('Screen leaves the frame and the cursor below it when it is disposed', async () => {
  const stage = makeScreenHarness({ columns: 80, rows: 24 })
  stage.show(['Fone', 'Ftwo'], { x: 2, y: 0 })
  await stage.settle()
  stage[Symbol.dispose]()
  await stage.terminal.settled()
  assert.deepEqual(stage.terminal.text(), ['Fone', 'Ftwo'])
  assert.deepEqual(stage.terminal.cursor(), { x: 0, y: 2 })
})

test("Screen writes one tick's frame and scrollback lines in one write", async () => {
  using stage = makeScreenHarness({ columns: 80, rows: 24 })
  stage.show(['Fone', 'Ftwo'])
  await stage.settle()
  const { writes } = stage.screen.writeStats
  stage.show(['Ftwo'])
  stage.print('Pone')
  await stage.settle()
  stage.check()
  assert.equal(stage.screen.writeStats.writes, writes + 1)
})

test('Screen erases no printed line when a frame is on its way while the terminal shrinks', async () => {
  using stage = makeScreenHarness({ columns: 80, rows: 24 })
  for (let at = 0; at < 30; at++) stage.print(`P${at}`)
  stage.show(['Fone', 'Ftwo', 'Fthree'], { x: 1, y: 1 })
  await stage.settle()
  stage.terminal.resize(80, 10)
  stage.show(['Fone, on its way', 'Ftwo', 'Fthree'], { x: 1, y: 1 })
  await stage.flush()
  await stage.resize(80, 10)
  await stage.settle()
  stage.check()
})

test('Screen uses only the last of several frames that answer one resize', async () => {
  using stage = makeScreenHarness({ columns: 80, rows: 24 })
  stage.show(['Fone'])
  await stage.settle()
  const frame = (line: string) => [`${ESC}[?2026h`, `${line}\n`, `${ESC}[?2026l`]
  const answer = () => {
    for (const write of [...frame('Ffirst'), ...frame('Fsecond')]) stage.screen.ink.write(write)
  }
  stage.screen.ink.on('resize', answer)
  await stage.resize(60, 24)
  await stage.settle()
  stage.screen.ink.off('resize', answer)
  assert.deepEqual(stage.terminal.text(), ['Fsecond'])
})

test('Screen has drawn everything before modes change, because another program may then have the terminal', async () => {
  using stage = makeScreenHarness({ columns: 80, rows: 24 })
  stage.show(['Fone'])
  await stage.settle()
  const inkWrites = [`${ESC}[?2026h`, 'Pone\n', 'Ftwo\n', `${ESC}[?2026l`]
  for (const write of inkWrites) stage.screen.ink.write(write)
  stage.screen.write(`${ESC}[?1049h`)
  assert.ok(stage.bytes().endsWith(`Pone\nFtwo${ESC}[?2026l${ESC}[?1049h`))
  assert.ok(stage.screen.restoring().includes(`${ESC}[?1049l`))
})

test('Screen erases from the second column, because tmux keeps a screen that is erased from its first cell', async () => {
  using stage = makeScreenHarness({ columns: 20, rows: 8 })
  stage.show(['Fone', 'Ftwo'])
  await stage.settle()
  stage.print('Sline')
  stage.show(['Fthree'])
  await stage.settle()
  const erasing = stage.bytes().split('\u001b[J').slice(0, -1)
  assert.ok(erasing.length > 0)
  for (const before of erasing)
    assert.ok(before.endsWith('\r\u001b[K\u001b[2G'), JSON.stringify(before.slice(-20)))
  stage.check()
})

test('Screen draws only what changed', async () => {
  using stage = makeScreenHarness({ columns: 80, rows: 24 })
  const lines = Array.from({ length: 20 }, (_, at) => `Fline ${at}${'.'.repeat(50)}`)
  stage.show(lines, { x: 3, y: 19 })
  await stage.settle()
  const { bytes, writes } = stage.screen.writeStats
  stage.show(lines.with(19, 'Fchanged'), { x: 4, y: 19 })
  await stage.settle()
  assert.equal(stage.screen.writeStats.writes, writes + 1)
  assert.ok(
    stage.screen.writeStats.bytes - bytes < 80,
    `${stage.screen.writeStats.bytes - bytes} bytes for one line`,
  )
  stage.check()
})

const ESC = '\u001b'

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
    resize({ min: 1, max: 300 }, { min: 1, max: 120 }),
    resize({ min: 25, max: 120 }, { min: 14, max: 60 }), // in which every frame fits
    resize({ min: 25, max: 120 }, { min: 24, max: 24 }),
  )
}

function resize(
  columns: { min: number; max: number },
  rows: { min: number; max: number },
): fc.Arbitrary<Step> {
  return fc.record({
    do: fc.constant('resize' as const),
    columns: fc.integer(columns),
    rows: fc.integer(rows),
    settles: fc.boolean(),
  })
}

async function walk(steps: readonly Step[], reflow: Reflow): Promise<void> {
  using stage = makeScreenHarness({ columns: 80, rows: 24, reflow })
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
