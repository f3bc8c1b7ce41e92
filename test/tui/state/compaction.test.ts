import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompactionEvent, CompactionState } from '../../../src/core/protocol/crabtalk.generated.ts'
import { reduceCompaction, warnIfFull, withSize } from '../../../src/tui/state/compaction.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'

const OPTIONS = {
  agent: 'crab',
  sender: 'ann',
  fresh: false,
  mode: 'ask',
  rules: { allow: [], ask: [], deny: [] },
  color: false,
  version: '1',
} as const
const TURN = {
  runId: 'r',
  startedAt: 0,
  doing: 'thinking',
  outputTokens: 0,
  hasAnswered: false,
  isCancelling: false,
}

test('a compaction says what it does, and then what came of it', () => {
  const event = { before: 31_000, after: 4_000, context: 36_000, archive: 's-1' }
  const started = CompactionEvent.create({ ...event, state: CompactionState.STARTED })
  const busy = reduceCompaction(filled(30_000), started)
  assert.equal(busy.turn?.doing, 'compacting the conversation · 86 % full')
  const done = reduceCompaction(busy, CompactionEvent.create({ ...event, state: CompactionState.DONE }))
  assert.deepEqual(texts(done), ['Compacted: 31k → 4k tokens'])
  assert.deepEqual([done.turn?.doing, done.usage.last?.promptTokens], ['thinking', 4_000])
})

test('a compaction that fails is a warning', () => {
  const error = 'Cannot compact the conversation: the model refused'
  const failed = CompactionEvent.create({ state: CompactionState.FAILED, before: 1, error })
  assert.deepEqual(texts(reduceCompaction(filled(1), failed)), [
    'Cannot compact automatically: the model refused',
  ])
})

test('warnIfFull() warns once from 70 %, and again after a compaction', () => {
  assert.deepEqual(texts(warnIfFull(filled(24_000))), [])
  const warned = warnIfFull(filled(26_000))
  assert.deepEqual(texts(warned), ['The context is 72 % full: it is compacted automatically at 85 %'])
  assert.equal(warnIfFull(warned), warned)
  const due = 'The context is 92 % full: it is compacted with your next message'
  assert.deepEqual(texts(warnIfFull(filled(33_000))), [due])
  const compacted = { ...warned, usage: withSize(warned.usage, 26_000) }
  assert.equal(texts(warnIfFull(compacted)).length, 2)
})

function filled(tokens: number): ChatState {
  const last = { promptTokens: tokens, completionTokens: 0, totalTokens: tokens }
  const state = initialState(OPTIONS)
  return { ...state, turn: TURN, usage: { ...state.usage, last, context: 36_000 } as ChatState['usage'] }
}

function texts(state: ChatState): string[] {
  return state.finished.map(({ block }) => (block.kind === 'notice' ? block.text : block.kind))
}
