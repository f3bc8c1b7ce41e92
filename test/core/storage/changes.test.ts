import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { DiskStorage } from '../../../src/core/storage/disk-storage.ts'
import type { SessionChange } from '../../../src/core/storage/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { newLine } from './arbitraries.ts'
import { makeHeader, toLine } from './samples.ts'

test('onChange() is called for every line with its position, once it is written', async () => {
  await using home = await openHome()
  const steps = fc.array(fc.array(newLine, { maxLength: 3 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(steps, async ([first = [], ...appends]) => {
      home.changes.length = 0
      const { id, cursor } = await home.storage.createSession(makeHeader(), first)
      let at = cursor
      for (const lines of appends) at = await home.storage.append(id, at, lines)
      const { header, lines } = await home.storage.read(id)
      assert.deepEqual(home.changes[0]?.change === 'appended' && home.changes[0].header, header)
      assert.deepEqual(
        home.changes.flatMap((change) => (change.change === 'appended' ? change.lines : [])),
        lines,
      )
      const bytes = readFileSync(home.file(id))
      let end = 0
      for (const change of home.changes) {
        assert.ok(change.change === 'appended')
        if (end > 0) assert.equal(change.at.bytes, end)
        end = change.end.bytes
        assert.equal(bytes.toString('utf8', change.at.bytes, end), change.texts.join(''))
      }
      assert.equal(end, bytes.length)
    }),
    { numRuns: propertyRuns(400, 40) },
  )
})

test('onChange() is called for copies and deletions, and for nothing that failed', async () => {
  await using home = await openHome()
  const { id, cursor } = await home.storage.createSession(makeHeader(), [toLine('one')])
  const copy = await home.storage.copySession(id, makeHeader(), Number.POSITIVE_INFINITY)
  await assert.rejects(home.storage.append(id, { bytes: 1, seq: 0 }, [toLine('two')]), {
    kind: 'conflict',
  })
  await home.storage.deleteSession(id)
  await assert.rejects(home.storage.append(id, cursor, [toLine('two')]), { kind: 'missing' })
  await assert.rejects(home.storage.deleteSession(id), { kind: 'missing' })
  assert.deepEqual(
    home.changes.map((change) => [change.change, change.id]),
    [
      ['appended', id],
      ['copied', copy],
      ['deleted', id],
    ],
  )
})

async function openHome() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const changes: SessionChange[] = []
  const sessions = join(dir.path, 'sessions')
  return {
    changes,
    file: (id: string) => join(sessions, `${id}.jsonl`),
    storage: new DiskStorage({
      ...{ sessions, index: join(dir.path, 'index') },
      onChange: (change) => changes.push(structuredClone(change)),
    }),
    [Symbol.asyncDispose]: () => dir.remove(),
  }
}
