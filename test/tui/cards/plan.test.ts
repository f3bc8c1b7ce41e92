import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLAN_ANSWERS } from '../../../src/core/base/plan-answers.ts'
import { AskKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { reduce } from '../../../src/tui/state/reduce.ts'
import type { ChatState } from '../../../src/tui/state/types.ts'
import { busyState } from '../../support/chat-state.ts'
import { CRAB, formCard, makeCardView, pressKeys, readAnswers, renderLines } from './card-fixtures.ts'

const { accept, acceptEdits, no } = PLAN_ANSWERS
const PLAN = 'Rename a.ts\n\n1. Move it.\n2. Run the tests.'
const OPTIONS = [no, accept, acceptEdits].map((label) => ({ label }))

function planCard(plan = PLAN, options = OPTIONS) {
  return formCard([{ question: plan, header: 'Plan', options }], AskKind.PLAN)
}

test('a plan is shown behind a bar, with the choices of every card and No selected', () => {
  assert.deepEqual(renderLines(planCard()), [
    `─ Plan ${'─'.repeat(66)} crab ─`,
    '  │ Rename a.ts',
    '  │',
    '  │ 1. Move it.',
    '  │ 2. Run the tests.',
    '   1  Yes, carry it out',
    '   2  Yes, and allow edits in this directory',
    '   3  Change it: type what should be different',
    ' ❯ 4  No, stay in plan mode',
    '   A digit or arrows, then Enter · Esc no',
    '─'.repeat(80),
  ])
})

for (const [keys, answer, rest = ''] of [
  [['1', 'enter'], accept],
  [['2', 'enter'], acceptEdits],
  [['3', 'enter', 'write:also b.ts'], 'also b.ts'],
  [['3', 'enter', 'write:Accept'], no],
  [['4', 'enter'], no],
  [['escape'], no],
  [['?', 'x'], undefined, '?x'],
  [['5', 'enter'], undefined, '5<enter>'],
] as [string[], string | undefined, string?][]) {
  test(`${keys.join(' ')} answers a plan with ${answer ?? 'nothing'}`, () => {
    assert.deepEqual(readAnswers(planCard(), ...keys), answer === undefined ? undefined : { [PLAN]: answer })
    assert.equal(pressKeys(planCard(), keys).rest, rest)
  })
}

test('a plan without the option to allow edits has no 2', () => {
  const card = planCard(PLAN, OPTIONS.slice(0, 2))
  assert.equal(readAnswers(card, '2', 'enter'), undefined)
  assert.deepEqual(readAnswers(card, '1', 'enter'), { [PLAN]: accept })
})

test('a long plan is accepted only after its end was on the screen, at any size', () => {
  const plan = Array.from({ length: 60 }, (_, at) => `Step ${at} of the plan.\n\n`).join('')
  for (const [columns, rows] of [
    [40, 15],
    [80, 24],
    [120, 40],
  ] as const) {
    let { card } = pressKeys(planCard(plan), ['1'], makeCardView(columns, rows))
    let presses = 0
    for (let answers = 0; answers === 0; presses++) {
      const pressed = pressKeys(card, ['enter'], makeCardView(columns, rows))
      answers = pressed.effects.length
      if (answers > 0) assert.match(renderLines(card, columns, rows).join('\n'), /Step 59/)
      card = pressed.card
    }
    assert.ok(presses > 2, `${presses} presses at ${columns}x${rows}`)
  }
})

test('an accepted plan ends plan mode: of the turn in every window, of the next one where it was accepted', () => {
  for (const [answer, mode] of [
    [accept, 'ask'],
    [acceptEdits, 'edits'],
    [no, 'plan'],
    ['also b.ts', 'plan'],
  ] as const) {
    const before: ChatState = { ...busyState(), mode: 'plan', chosenMode: 'plan' }
    const card = { ...planCard(), pair: CRAB }
    const closed = { askId: card.askId, by: 'ann', content: JSON.stringify({ [PLAN]: answer }) }
    const here = reduce({ ...before, asks: [{ ...card, isAnswered: true }] }, { type: 'ask-closed', closed })
    assert.deepEqual([here.mode, here.chosenMode, here.asks], [mode, mode, []], answer)
    const elsewhere = reduce({ ...before, asks: [card] }, { type: 'ask-closed', closed })
    assert.deepEqual([elsewhere.mode, elsewhere.turn?.mode, elsewhere.asks], ['plan', here.turn?.mode, []])
  }
})

test('a narrow card still says that 2 allows edits', () => {
  assert.match(renderLines(planCard(), 40, 30).join('\n'), /2 {2}Yes, and allow edits$/m)
})
