import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryEvent, type StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { reduce } from '../../../src/tui/state/reduce.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'
import {
  after,
  busyState,
  chunk,
  finishedBlocks,
  textEnd,
  textStart,
  toolStart,
  turnEnd,
} from '../../support/chat-state.ts'

const BUSY = { message: 'Cannot call m (p): Overloaded (529)', maxAttempts: 10, delayMs: 8_000 }

test('the wait for the next attempt is part of the running turn, and prints nothing', () => {
  const state = at(busyState(), 1_000, retry({ attempt: 3 }))
  assert.deepEqual(state.turn?.retry, {
    attempt: 4,
    maxAttempts: 10,
    message: BUSY.message,
    until: 9_000,
    since: 1_000,
  })
  const next = at(state, 9_000, retry({ attempt: 4 }))
  assert.deepEqual([next.turn?.retry?.attempt, next.turn?.retry?.since], [5, 1_000])
  assert.equal(finishedBlocks(next).length, 1, 'only the message')
})

test('a wait that was announced a while ago ends when it was announced to', () => {
  const until = (nextAt: number) =>
    at(busyState(), 100_000, retry({ nextAt: new Date(nextAt).toISOString() })).turn?.retry?.until
  assert.equal(until(103_000), 103_000)
  assert.equal(until(99_000), 100_000)
  assert.equal(until(900_000), 108_000, 'the clock of another machine')
})

test('an answer ends the wait; one line says so if it was long', () => {
  for (const answer of [textStart, toolStart('a')]) {
    const soon = at(at(busyState(), 1_000, retry({ attempt: 1 })), 10_000, answer)
    assert.deepEqual([soon.turn?.retry, finishedBlocks(soon).length], [undefined, 1])
    const late = at(at(busyState(), 1_000, retry({ attempt: 3 })), 32_000, answer)
    const text = 'Overloaded (529): attempt 4 was answered after 31 s'
    assert.deepEqual(finishedBlocks(late)[1], { kind: 'notice', tone: 'info', text })
  }
})

test('an answer that broke off stays until the next one begins, and is not printed', () => {
  const broken = after(busyState(), [textStart, chunk('Half an ans'), retry({ discardedTexts: 1 }), textEnd])
  assert.equal(broken.open?.text, 'Half an ans')
  assert.equal(reduce(broken, { type: 'flush' }).open?.text, 'Half an ans')
  const whole = after(broken, [textStart, chunk('The whole answer'), textEnd])
  assert.deepEqual(printedAnswers(whole), ['The whole answer'])
  assert.equal(whole.open, undefined)
})

test('an answer that broke off after a part of it was printed is marked, and starts again', () => {
  const some = reduce(after(busyState(), [textStart, chunk('First.\n\nSec')]), { type: 'flush' })
  const broken = after(some, [retry({ discardedTexts: 1 }), textEnd])
  const whole = after(broken, [textStart, chunk('First.\n\nSecond.'), textEnd])
  assert.deepEqual(
    finishedBlocks(whole)
      .slice(1)
      .map((block) => ('text' in block ? block.text : block.kind)),
    ['First.', 'The answer broke off here, and starts again', 'First.', 'Second.'],
  )
})

test('an answer that broke off after a whole text of it was printed is marked, whatever came next', () => {
  const whole = after(busyState(), [textStart, chunk('I look.'), textEnd])
  for (const next of [[], [{ $case: 'thinkingStart', value: { agent: '' } } as const]]) {
    const broken = after(whole, [...next, retry({ discardedTexts: 1 }), retry({ attempt: 2 })])
    const again = after(broken, [textStart, chunk('I look.'), textEnd])
    const texts = finishedBlocks(again).slice(1)
    assert.deepEqual(
      texts.flatMap((block) => ('text' in block && block.text !== '' ? [block.text] : [])),
      ['I look.', 'The answer broke off here, and starts again', 'I look.'],
    )
  }
})

test('an answer that broke off is printed when the turn gives up or is stopped', () => {
  const broken = after(busyState(), [textStart, chunk('Half'), retry({ discardedTexts: 1 }), textEnd])
  for (const end of [turnEnd('no', 'failed'), turnEnd('Cancelled', 'cancelled')]) {
    assert.deepEqual(printedAnswers(after(broken, [end])), ['Half'])
  }
})

function retry(more: Partial<RetryEvent>): NonNullable<StreamEvent['event']> {
  return { $case: 'retry', value: RetryEvent.create({ ...BUSY, attempt: 1, ...more }) }
}

function at(state: ChatState, now: number, event: NonNullable<StreamEvent['event']>): ChatState {
  return reduce(state, { type: 'stream', event: { seq: 0, event }, now })
}

function printedAnswers(state: ChatState): string[] {
  return finishedBlocks(state).flatMap((block) => (block.kind === 'answer' ? [block.text] : []))
}
