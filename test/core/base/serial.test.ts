import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Serial } from '../../../src/core/base/serial.ts'

test('Serial runs one task at a time, in call order, and returns each result to its caller', async () => {
  const serial = new Serial()
  const log: string[] = []
  const works = ['a', 'b', 'c'].map((name) =>
    serial.run(async () => {
      log.push(`${name} starts`)
      await nextTurn()
      log.push(`${name} ends`)
      return name
    }),
  )
  assert.deepEqual(log, [])
  assert.deepEqual(await Promise.all(works), ['a', 'b', 'c'])
  assert.deepEqual(log, ['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends'])
})

test('Serial reports an error to its caller only, and continues with the next task', async () => {
  const serial = new Serial()
  const failing = serial.run(() => Promise.reject(new Error('first')))
  const thrown = serial.run(() => {
    throw new Error('second')
  })
  const next = serial.run(() => 'third')
  await assert.rejects(failing, { message: 'first' })
  await assert.rejects(thrown, { message: 'second' })
  assert.equal(await next, 'third')
})

test('Serial settles when its tasks have, failed or not, and is idle then', async () => {
  const serial = new Serial()
  await serial.settled()
  assert.ok(serial.isIdle)
  const { promise, reject } = Promise.withResolvers<void>()
  const work = serial.run(() => promise)
  const rejected = assert.rejects(work, { message: 'late' })
  let isSettled = false
  const settled = serial.settled().then(() => {
    isSettled = true
  })
  await nextTurn()
  assert.deepEqual([isSettled, serial.isIdle], [false, false])
  reject(new Error('late'))
  await settled
  assert.ok(serial.isIdle)
  await rejected
})

test('Serial is idle for a caller that has waited for the last task', async () => {
  const serial = new Serial()
  const first = serial.run(() => nextTurn()).then(() => serial.isIdle)
  const last = serial.run(() => nextTurn()).finally(() => assert.ok(serial.isIdle))
  assert.equal(await first, false)
  await last
})
