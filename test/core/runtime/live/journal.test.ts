import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AgentEvent } from '../../../../src/core/runtime/events.ts'
import { Journal, type JournalEntry } from '../../../../src/core/runtime/live/journal.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const NEVER = new AbortController().signal
const text = (delta: string): AgentEvent => ({ type: 'text', delta })

test('Journal counts events from 1, and reads past and future events from any position', async () => {
  const journal = new Journal({ maxBytes: 100_000 })
  assert.deepEqual([journal.event('a', text('one')), journal.event('a', text('two'))], [1, 2])
  journal.append({ type: 'changed' })
  const seen: string[] = []
  const reading = (async () => {
    for await (const entry of journal.read(1, NEVER)) {
      seen.push(entry.type === 'event' ? `${entry.seq}` : entry.type)
      if (seen.length === 3) return
    }
  })()
  journal.event('b', text('three'))
  await reading
  assert.deepEqual(seen, ['2', 'changed', '3'])
  assert.equal(journal.readers, 0)
})

test('Journal.read() ends with the reason of its signal', async () => {
  const journal = new Journal({ maxBytes: 1000 })
  const stop = new AbortController()
  const reading = journal.read(0, stop.signal).next()
  stop.abort()
  await assert.rejects(reading, { kind: 'cancelled' })
  assert.equal(journal.readers, 0)
})

test('Journal.read() throws for a reader that is too slow, and continues for others', async () => {
  const journal = new Journal({ maxBytes: 4000 })
  journal.event('a', text('first'))
  const slow = journal.read(0, NEVER)
  const quick = journal.read(0, NEVER)
  assert.equal(readSeq((await slow.next()).value), 1)
  assert.equal(readSeq((await quick.next()).value), 1)
  for (let at = 2; at <= 100; at++) {
    journal.event('a', text('x'.repeat(100)))
    assert.equal(readSeq((await quick.next()).value), at)
  }
  await assert.rejects(slow.next(), { kind: 'unavailable', message: /events arrive faster/ })
})

test('Journal.read() delivers an event larger than the limit to waiting readers', async () => {
  const journal = new Journal({ maxBytes: 4000 })
  const reading = journal.read(0, NEVER)
  const next = reading.next()
  journal.event('a', text('x'.repeat(5000)))
  assert.equal(readSeq((await next).value), 1)
  journal.event('a', text('y'))
  assert.equal(readSeq((await reading.next()).value), 2)
  assert.equal(journal.behind(0), undefined, 'with the next it is forgotten')
})

test('Journal.trim() keeps what a reader has not read yet', async () => {
  const journal = new Journal({ maxBytes: 100_000 })
  for (const delta of ['one', 'two', 'three', 'four']) journal.event('a', text(delta))
  const reading = journal.read(2, NEVER)
  assert.equal(readSeq((await reading.next()).value), 3)
  journal.trim(0)
  assert.equal(readSeq((await reading.next()).value), 4)
  assert.equal(journal.behind(1), undefined)
  await reading.return(undefined)
  journal.trim(0)
  assert.equal(journal.behind(3), undefined)
})

test('Journal.behind() returns the events after a given one, with the message that started them, while all are kept', () => {
  const journal = new Journal({ maxBytes: 100_000 })
  journal.event('a', text('one'))
  const before = journal.end
  journal.append({ type: 'message', runId: 'b', message: { line: 3, content: 'hi', attachments: [], at: 0 } })
  journal.event('b', text('two'))
  assert.equal(journal.behind(1), before)
  assert.equal(journal.behind(2), journal.end)
  assert.equal(journal.behind(3), undefined)
  journal.trim(0)
  assert.equal(journal.behind(1), undefined)
  assert.equal(journal.behind(2), journal.end)
})

test('Journal.findStart() returns the first event of a run only while it is kept', () => {
  const journal = new Journal({ maxBytes: 100_000 })
  journal.event('a', text('before'))
  const position = journal.end
  journal.event('b', START)
  journal.event('b', text('one'))
  assert.deepEqual(journal.findStart('b'), { position, seq: 2 })
  assert.equal(journal.findStart('a'), undefined)
  journal.trim(250)
  assert.equal(journal.findStart('b'), undefined)
})

test('Journal never exceeds its limit, and readers that keep up miss nothing', () => {
  const lengths = fc.array(fc.nat(3000), { maxLength: 60 })
  fc.assert(
    fc.property(lengths, (all) => {
      const journal = new Journal({ maxBytes: 10_000 })
      for (const [index, length] of all.entries()) {
        assert.equal(journal.event('a', text('x'.repeat(length))), index + 1)
        assert.equal(journal.behind(index), journal.end - 1)
      }
      const oldest = all.findIndex((_, index) => journal.behind(index) !== undefined)
      const retained = oldest < 0 ? [] : all.slice(oldest)
      assert.ok(retained.reduce((sum, length) => sum + length + 160, 0) <= 10_000)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

const START: AgentEvent = {
  type: 'start',
  agent: 'crab',
  primary: { id: 'i', name: 'crab' },
  runId: 'b',
  sessionId: 's',
  model: 'm',
  line: 1,
}

function readSeq(told: JournalEntry | undefined): number | undefined {
  return told?.type === 'event' ? told.seq : undefined
}
