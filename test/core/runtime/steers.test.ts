import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Steers } from '../../../src/core/runtime/steers.ts'
import type { NewLine } from '../../../src/core/storage/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const same = async (content: string) => ({ content })

test('takeUp() stores each steer as an event with the typed text and a message for the model', async () => {
  const steers = new Steers(async (content) => ({ content: content.toUpperCase() }))
  steers.add('one')
  steers.add('two')
  const stored: NewLine[] = []
  assert.deepEqual(await steers.takeUp(async (lines) => void stored.push(...lines)), ['one', 'two'])
  assert.deepEqual(stored, [
    { kind: 'event', event: 'user_steered', content: 'one' },
    { kind: 'entry', role: 'user', content: 'ONE' },
    { kind: 'event', event: 'user_steered', content: 'two' },
    { kind: 'entry', role: 'user', content: 'TWO' },
  ])
  assert.deepEqual(await steers.takeUp(() => Promise.reject(new Error('nothing to append'))), [])
})

test('takeUp() that cannot store keeps all steers waiting', async () => {
  const steers = new Steers(same)
  steers.add('one')
  await assert.rejects(
    steers.takeUp(() => Promise.reject(new Error('full'))),
    { message: 'full' },
  )
  assert.deepEqual([steers.giveBack(), steers.giveBack()], ['one', undefined])
})

test('closeIfEmpty() stays open while steers wait', () => {
  const steers = new Steers(same)
  steers.add('one')
  assert.equal(steers.closeIfEmpty(), false)
  assert.equal(steers.add('two'), true)
  assert.deepEqual([steers.giveBack(), steers.add('three'), steers.giveBack()], ['one', false, 'two'])
  assert.equal(steers.closeIfEmpty(), true)
})

test('add() accepts at most 64 steers, and at most 1 MiB, until they are taken up', async () => {
  const full = { kind: 'conflict', message: /^Cannot steer the turn: too much/, hint: /wait/ }
  const steers = new Steers(same)
  for (let n = 0; n < 64; n++) steers.add('x')
  assert.throws(() => steers.add('x'), full)
  assert.equal((await steers.takeUp(async () => undefined)).length, 64)
  steers.add('é'.repeat(256 * 1024))
  assert.throws(() => steers.add('é'.repeat(256 * 1024 + 1)), full)
  steers.add('é'.repeat(256 * 1024))
  assert.throws(() => steers.add('x'), full)
  assert.equal((await steers.takeUp(async () => undefined)).length, 2)
})

test('every accepted steer comes out once, in order, for any interleaving of adding, taking and closing', async () => {
  const step = fc.constantFrom('add', 'take', 'fail', 'closeIfEmpty', 'back')
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const accepted: string[] = []
      const out: string[] = []
      const steers = new Steers(same)
      let next = 0
      const add = () => {
        const content = String(next++)
        if (steers.add(content)) accepted.push(content)
      }
      const store = async (lines: readonly NewLine[]) => {
        add() // a steer arrives while it is being written
        await null
        for (const line of lines) if (line.kind === 'entry') out.push(line.content)
      }
      for (const act of steps) {
        if (act === 'add') add()
        if (act === 'take') await steers.takeUp(store)
        if (act === 'fail')
          await steers.takeUp(() => Promise.reject(new Error('full'))).catch(() => undefined)
        if (act === 'closeIfEmpty') steers.closeIfEmpty()
        if (act === 'back') {
          const content = steers.giveBack()
          if (content !== undefined) out.push(content)
        }
      }
      steers.close()
      await steers.takeUp(store)
      assert.deepEqual(out, accepted)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
