import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { AskKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { armCard, pressCard, renderCard, writeToCard } from '../../../src/tui/cards/card.ts'
import type { AskCard } from '../../../src/tui/cards/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { findUnprintable, hostileText } from '../hostile-text.ts'
import { ALL_ANSWERS, formCard, key, makeCardView, ONCE_ONLY, permissionCard } from './card-fixtures.ts'

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

test('a card fits its space and prints no control sequence except colors, for any question and any keys', () => {
  fc.assert(
    fc.property(fc.oneof(PERMISSION, FORM), fc.array(KEYS, { maxLength: 20 }), ROOM, (card, keys, room) => {
      let state: AskCard = card
      const view = makeCardView(room.columns, room.rows, { color: true })
      for (const one of keys) {
        state = armCard(pressCard(state, key(one), { view, isAlone: true }).state)
        const { lines } = renderCard(state, view)
        assert.ok(lines.length <= room.rows - 3 && lines.length > 0, `${lines.length} lines`)
        for (const line of lines) {
          assert.ok(
            stringWidth(line) <= room.columns,
            `${stringWidth(line)} columns: ${JSON.stringify(line)}`,
          )
          assert.deepEqual(findUnprintable(line), [])
        }
      }
    }),
    { numRuns: propertyRuns(300) },
  )
})

/** Keys, each pressed after a pause or immediately after the one before. */
const TIMED_KEYS = fc.array(fc.tuple(KEYS, fc.boolean()), { maxLength: 30 })

test('only Enter after a pause, on a choice selected with a digit or the arrows, allows a call', () => {
  fc.assert(
    fc.property(PERMISSION, TIMED_KEYS, (card, keys) => {
      let state: AskCard = card
      for (const [one, isPaused] of keys) {
        const { pick } = state.state
        const pressed = pressCard(armCard(state, isPaused), key(one), { view: makeCardView(), isAlone: true })
        const answers = pressed.effects.flatMap((effect) =>
          effect.type === 'answer' ? Object.values(effect.answers) : [],
        )
        if (answers.some((answer) => APPROVALS.includes(answer))) {
          assert.ok(isPaused && one === 'enter' && pick.by !== 'card', `${one} allowed it`)
        }
        state = pressed.state
      }
    }),
    { numRuns: propertyRuns(500) },
  )
})

test('a card passes every letter, text and paste on to the composer', () => {
  const TEXT = fc.constantFrom(
    'y',
    's',
    'a',
    'n',
    'N',
    'x',
    ' ',
    '1',
    '2',
    '3',
    '9',
    'type:yes',
    'paste:y\ny',
  )
  const cards = fc.oneof(PERMISSION, FORM)
  fc.assert(
    fc.property(cards, fc.array(fc.tuple(TEXT, fc.boolean()), { maxLength: 12 }), (card, keys) => {
      let state: AskCard = card
      let reached = ''
      for (const [one, isPaused] of [...keys, ['x', true] as const]) {
        const pressed = pressCard(armCard(state, isPaused), key(one), { view: makeCardView(), isAlone: true })
        assert.deepEqual(pressed.effects, [])
        reached += pressed.rest.map(({ text }) => text).join('')
        state = pressed.state
      }
      assert.equal(reached, `${keys.map(([one]) => key(one).text).join('')}x`)
    }),
    { numRuns: propertyRuns(300) },
  )
})

test('every answer of a form has a text for every question', () => {
  fc.assert(
    fc.property(FORM, fc.array(KEYS, { maxLength: 30 }), (card, keys) => {
      let state: AskCard = card
      for (const one of keys) {
        const isWords = state.state.isWriting && !state.isAnswered
        const pressed = isWords
          ? writeToCard(state, one)
          : pressCard(armCard(state), key(one), { view: makeCardView(), isAlone: true })
        for (const effect of pressed.effects) {
          if (effect.type !== 'answer') continue
          assert.equal(effect.askId, card.askId)
          for (const { question } of card.ask.questions)
            assert.equal(typeof effect.answers[question], 'string')
        }
        state = pressed.state
      }
    }),
    { numRuns: propertyRuns(300) },
  )
})
