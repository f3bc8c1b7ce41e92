import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initialState } from '../../../src/tui/state/initial.ts'
import { chooseMode } from '../../../src/tui/state/modes.ts'
import { reduce } from '../../../src/tui/state/reduce.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'

const RULES = { allow: [], ask: [], deny: [] }
const OPTIONS = {
  agent: 'crab',
  sender: 'ann',
  fresh: false,
  rules: RULES,
  color: false,
  version: '1',
} as const
const SHOWN = { type: 'conversation', agent: 'crab', sender: 'ann', session: 's1', title: '' } as const

test('another conversation has the mode of its agent, and no directories that were added for the one before', () => {
  const state = allowedState()
  for (const more of [{ sender: 'sh:2' }, { session: 's2' }, { session: undefined }]) {
    const next = reduce(state, { ...SHOWN, ...more })
    assert.deepEqual([next.mode, next.chosenMode, next.roots], ['plan', undefined, ['/launch']])
    assert.match(next.hint, /^Plan mode: .* · Directories that you added are no longer included$/)
  }
  const other = reduce(state, { ...SHOWN, agent: 'owl', sender: 'sh:2' })
  assert.deepEqual([other.mode, other.usualMode, other.chosenMode], ['ask', 'ask', undefined])
})

test('the mode and the added directories stay while the window shows the conversation again', () => {
  const state = allowedState()
  const { mode, chosenMode, roots, hint } = reduce(state, SHOWN)
  assert.deepEqual([mode, chosenMode, roots, hint], ['all', 'all', ['/launch', '/added'], ''])
})

test('the mode of the command line holds for the first conversation', () => {
  const start = initialState({ ...OPTIONS, mode: 'plan' })
  const first = reduce(start, { ...SHOWN, isFirst: true })
  assert.equal(first.chosenMode, 'plan')
  assert.equal(reduce(first, { ...SHOWN, session: 's2' }).chosenMode, undefined)
})

/** A window on a conversation in which everything is allowed, with an agent whose mode is plan. */
function allowedState(): ChatState {
  const start = initialState({ ...OPTIONS, mode: 'ask', roots: ['/launch'] })
  const shown = reduce(start, { ...SHOWN, isFirst: true })
  const change = { ...chooseMode('all'), usualMode: 'plan', roots: ['/launch', '/added'] } as const
  return reduce(shown, { type: 'set', change })
}
