import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentEvent } from '../../../../src/core/runtime/events.ts'
import { Journals } from '../../../../src/core/runtime/live/journals.ts'

const toPair = (index: number) => ({ agentId: 'a', sender: `${index}` })
const NEVER = new AbortController().signal
const TEXT: AgentEvent = { type: 'text', delta: 'hi' }

test('Journals keeps those of all running turns, and the latest of the others', () => {
  const journals = new Journals()
  const running = Array.from({ length: 1000 }, (_, index) => journals.running(toPair(index)))
  for (const { journal } of running) journal.event('r', TEXT)
  for (const [index, { journal }] of running.entries()) {
    using again = journals.followed(toPair(index))
    assert.equal(again.journal, journal)
  }
  for (const one of running) one[Symbol.dispose]()
  assert.ok(isKept(999), 'what ended last is kept')
  assert.ok(!isKept(0), 'what ended first is forgotten, though nothing came after it')

  function isKept(index: number): boolean {
    using followed = journals.followed(toPair(index))
    return followed.journal === running[index]!.journal
  }
})

test('Journals keeps a whole turn for readers that have not read all of it, until they leave', async () => {
  const journals = new Journals()
  const reading = follow()
  const first = reading.next()
  const running = journals.running(toPair(0))
  for (let count = 0; count < 2000; count++) running.journal.event('r', TEXT)
  running[Symbol.dispose]()
  assert.equal((await first).value, 1)
  for (let seq = 2; seq <= 1000; seq++) assert.equal((await reading.next()).value, seq)
  assert.notEqual(running.journal.behind(1000), undefined)
  await reading.return()
  assert.equal(running.journal.behind(1000), undefined)

  async function* follow(): AsyncGenerator<number, void> {
    using followed = journals.followed(toPair(0))
    for await (const entry of followed.journal.read(0, NEVER)) if (entry.type === 'event') yield entry.seq
  }
})

test('Journals keeps a journal that a reader is about to follow', () => {
  const journals = new Journals()
  using followed = journals.followed(toPair(0))
  for (let index = 1; index < 500; index++) journals.running(toPair(index))[Symbol.dispose]()
  using running = journals.running(toPair(0))
  assert.equal(running.journal, followed.journal)
})

test('a recreated journal continues to count, so that a returning reader is not taken as up to date', () => {
  const journals = new Journals()
  const pair = (sender: string) => ({ agentId: 'a', sender })
  const tell = (sender: string, times: number) => {
    using running = journals.running(pair(sender))
    for (let at = 0; at < times; at++) running.journal.event('r', { type: 'text', delta: 'x' })
    return running.journal.seq
  }
  const seen = tell('first', 7)
  for (let at = 0; at < 200; at++) tell(`other ${at}`, 1)
  using again = journals.followed(pair('first'))
  assert.equal(again.journal.behind(seen - 2), undefined)
  assert.ok(tell('first', 1) > seen)
  assert.equal(again.journal.behind(seen - 2), undefined)
})
