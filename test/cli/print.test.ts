import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { printJson, printTable } from '../../src/cli/print.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { makeTestHost, type TestHostOptions } from '../support/test-host.ts'

test('printTable() aligns columns by their width on a terminal, without trailing spaces', async () => {
  const rows = [
    ['1', '日本語', 'x'],
    ['22', 'e\u0301é', 'longer'],
    ['3', '', ''],
  ]
  assert.deepEqual(await tableLines(['ID', 'NAME', 'WHAT'], rows), [
    'ID  NAME    WHAT',
    '1   日本語  x',
    '22  e\u0301é      longer',
    '3',
  ])
})

test('printTable() prints whole lines into a pipe and truncates them on a terminal', async () => {
  const long = [['1', 'x'.repeat(200)]]
  assert.equal((await tableLines(['ID', 'TEXT'], long))[1], `1   ${'x'.repeat(200)}`)
  const terminal: TestHostOptions = { terminals: ['stdout'], columns: 20 }
  assert.equal((await tableLines(['ID', 'TEXT'], long, terminal))[1], `1   ${'x'.repeat(15)}…`)
  assert.equal(
    (await tableLines(['ID', 'TEXT'], [['1', '日本語'.repeat(9)]], terminal))[1],
    '1   日本語日本語日…',
  )
})

test('printTable() keeps the other rows narrow when one cell is very long', async () => {
  const rows = [
    ['1', 'x'.repeat(10_240), 'a'],
    ['2', 'short', 'b'],
  ]
  assert.deepEqual(await tableLines(['ID', 'SENDER', 'TITLE'], rows), [
    'ID  SENDER  TITLE',
    `1   ${'x'.repeat(10_240)}  a`,
    '2   short   b',
  ])
  const terminal: TestHostOptions = { terminals: ['stdout'], columns: 100 }
  const [, cut, short] = await tableLines(['ID', 'SENDER', 'TITLE'], rows, terminal)
  assert.equal(cut, `1   ${'x'.repeat(63)}…  a`)
  assert.equal(short, `2   ${'short'.padEnd(64)}  b`)
})

test('printTable() removes control characters and line breaks from cells', async () => {
  const cells = ['\u001b[31mred\u001b[0m', 'two\nlines\tand', '\u001b]0;title\u0007x']
  assert.deepEqual((await tableLines(['A', 'B', 'C'], [cells]))[1], 'red  two lines and  x')
})

test('printTable() fits the terminal whatever is in the cells', async () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 30 })
  const rows = fc.array(fc.tuple(cell, cell), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 10, max: 60 }), async (table, columns) => {
      const lines = await tableLines(['ONE', 'TWO'], table, { terminals: ['stdout'], columns })
      assert.equal(lines.length, table.length + 1)
      for (const line of lines) assert.ok(stringWidth(line) <= columns, JSON.stringify(line))
    }),
    { numRuns: propertyRuns(250, 50) },
  )
})

test('printJson() prints indented JSON, and returns 0', async () => {
  await using test = await makeTestHost()
  assert.equal(printJson(test.host, { a: [1] }), 0)
  await test.host.stdout.flush()
  assert.equal(test.stdout(), '{\n  "a": [\n    1\n  ]\n}\n')
})

async function tableLines(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  options: TestHostOptions = {},
): Promise<string[]> {
  await using test = await makeTestHost(options)
  await printTable(test.host, header, rows)
  await test.host.stdout.flush()
  return test.stdout().split('\n').slice(0, -1)
}
