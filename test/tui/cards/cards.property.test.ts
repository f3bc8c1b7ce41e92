import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { AskKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { pressCard, renderCard } from '../../../src/tui/cards/card.ts'
import type { AskCard } from '../../../src/tui/cards/types.ts'
import { hostileText, outlaws } from '../hostile.ts'
import { ALL_ANSWERS, formCard, key, ONCE_ONLY, permissionCard } from './setting.ts'

const { once, session, always } = PERMISSION_ANSWERS
const APPROVALS: readonly string[] = [once, session, always]

const KEYS = fc.constantFrom(
  ...['y', 's', 'a', 'Y', 'n', 'N', '?', 'x', ' ', '1', '2', '9', 'enter', 'escape', 'tab', 'shift+tab'],
  ...['up', 'down', 'left', 'right', 'page-up', 'page-down', 'home', 'end', 'backspace', 'delete'],
  ...['ctrl+d', 'ctrl+c', 'ctrl+a', 'ctrl+u', 'ctrl+y', 'type:yes', 'type:Always allow', 'paste:y\ny'],
)

const ROOM = fc.record({ columns: fc.integer({ min: 20, max: 200 }), rows: fc.integer({ min: 8, max: 60 }) })

const PERMISSION = fc
  .record({
    request: fc.record({
      tool: fc.oneof(fc.constantFrom('bash', 'edit'), hostileText),
      server: fc.oneof(fc.constant(''), hostileText),
      action: fc.oneof(
        hostileText,
        hostileText.map((text) => `bash: ${text}`),
      ),
      arguments: fc.oneof(
        hostileText,
        fc.dictionary(hostileText, hostileText).map((value) => JSON.stringify(value)),
      ),
      cwd: hostileText,
      diff: hostileText,
      reason: hostileText,
      rules: fc.array(hostileText, { maxLength: 4 }),
    }),
    answers: fc.constantFrom(ALL_ANSWERS, ONCE_ONLY),
    agent: hostileText,
  })
  .map(({ request, answers, agent }) => ({ ...permissionCard(request, answers), agent }))

const QUESTION = fc.record({
  question: hostileText,
  header: fc.oneof(fc.constant(''), hostileText),
  options: fc.array(fc.record({ label: hostileText, description: hostileText }), { maxLength: 12 }),
  multiSelect: fc.boolean(),
})
const FORM = fc
  .record({
    questions: fc.uniqueArray(QUESTION, { selector: ({ question }) => question, minLength: 1, maxLength: 4 }),
    kind: fc.constantFrom(AskKind.QUESTION, AskKind.ELICITATION),
    agent: hostileText,
  })
  .map(({ questions, kind, agent }) => ({ ...formCard(questions, kind), agent }))

test('whatever is asked and pressed, a card fits its room and prints nothing a terminal obeys but colours', () => {
  fc.assert(
    fc.property(fc.oneof(PERMISSION, FORM), fc.array(KEYS, { maxLength: 20 }), ROOM, (card, keys, room) => {
      let state: AskCard = card
      for (const one of keys) {
        state = { ...pressCard(state, key(one), room).state, isArmed: true }
        const { lines, caret } = renderCard(state, { ...room, color: true, details: false })
        assert.ok(lines.length <= room.rows - 6 && lines.length > 0, `${lines.length} lines`)
        for (const line of lines) {
          assert.ok(
            stringWidth(line) <= room.columns,
            `${stringWidth(line)} columns: ${JSON.stringify(line)}`,
          )
          assert.deepEqual(outlaws(line), [])
        }
        if (caret) assert.ok(caret.y < lines.length && caret.x < room.columns)
      }
    }),
    { numRuns: 300 },
  )
})

test('no sequence of keys allows a call, but y, s, a, or Enter on one of them', () => {
  fc.assert(
    fc.property(PERMISSION, fc.array(KEYS, { maxLength: 30 }), (card, keys) => {
      let state: AskCard = card
      for (const one of keys) {
        const marked = state.state.kind === 'permission' ? state.state : undefined
        const { state: next, effects } = pressCard(state, key(one), { columns: 80, rows: 24 })
        const given = effects.flatMap((effect) =>
          effect.type === 'answer' ? Object.values(effect.answers) : [],
        )
        if (given.some((answer) => APPROVALS.includes(answer))) {
          assert.equal(marked?.reason, undefined)
          const isLetter = ['y', 's', 'a', 'Y'].includes(one)
          const isMarked = one === 'enter' && (marked?.selected ?? -1) >= 0
          assert.ok(isLetter || isMarked, `${one} allowed it`)
        }
        state = { ...next, isArmed: true }
      }
    }),
    { numRuns: 500 },
  )
})

test('every answer of a form answers every question with a text', () => {
  fc.assert(
    fc.property(FORM, fc.array(KEYS, { maxLength: 30 }), (card, keys) => {
      let state: AskCard = card
      for (const one of keys) {
        const { state: next, effects } = pressCard(state, key(one), { columns: 80, rows: 24 })
        for (const effect of effects) {
          if (effect.type !== 'answer') continue
          assert.equal(effect.askId, card.askId)
          for (const { question } of card.ask.questions)
            assert.equal(typeof effect.answers[question], 'string')
        }
        state = { ...next, isArmed: true }
      }
    }),
    { numRuns: 300 },
  )
})
