import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { encodeHeader, encodeLines } from '../../../src/core/storage/session-file.ts'
import { readSessionParts } from '../../../src/core/storage/session-parts.ts'
import { readSessionFile } from '../../../src/core/storage/session-reader.ts'
import { makeTree } from '../../support/trees.ts'
import { makeHeader, toLine } from './samples.ts'

/** Lines of 1 kB, with one between them that is longer than several parts. */
const LINES = encodeLines(
  Array.from({ length: 900 }, (_, at) => toLine(at === 450 ? 'long '.repeat(200_000) : 'crab '.repeat(200))),
  0,
  Date.UTC(2026, 0, 2),
)

test('readSessionParts() returns in several parts what readSessionFile() returns in one', async () => {
  await using tree = await makeTree({})
  const path = tree.path('a.jsonl')
  writeFileSync(path, `${encodeHeader(makeHeader())}${LINES.join('')}{"kind":"entry","torn`)
  const whole = await readSessionFile(path)
  const parts = [...readSessionParts(path, undefined)]
  assert.ok(parts.length > 5)
  assert.deepEqual(
    parts.map(({ part }) => part.whole),
    parts.map((_, at) => at === 0),
  )
  assert.deepEqual(
    parts.flatMap(({ part }) => part.lines),
    whole.part.lines,
  )
  assert.deepEqual(parts.at(-1)?.part.cursor, whole.part.cursor)
  assert.deepEqual(parts.at(-1)?.part.header, whole.part.header)
  assert.deepEqual(parts[0]?.stamp, whole.stamp)
})

test('readSessionParts() continues at a cursor, and reads everything if no line ends there', async () => {
  await using tree = await makeTree({})
  const path = tree.path('a.jsonl')
  writeFileSync(path, encodeHeader(makeHeader()) + LINES.slice(0, 2).join(''))
  const [first] = readSessionParts(path, undefined)
  appendFileSync(path, LINES[2]!)
  const [grown, ...more] = readSessionParts(path, first!.part.cursor)
  assert.deepEqual(more, [])
  assert.equal(grown?.part.whole, false)
  assert.deepEqual(
    grown.part.lines.map(({ seq }) => seq),
    [3],
  )
  const [all] = readSessionParts(path, { bytes: first!.part.cursor.bytes - 1, seq: 2 })
  assert.equal(all?.part.whole, true)
  assert.equal(all.part.lines.length, 3)
})
