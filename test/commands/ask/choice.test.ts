import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choiceHelp, choiceLine, readChoice } from '../../../src/commands/ask/choice.ts'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { AskQuestion } from '../../../src/core/protocol/crabtalk.generated.ts'
import { denialOf } from '../../../src/tui/cards/permission-answer.ts'

const { once, session, always, no } = PERMISSION_ANSWERS
const ALL = offering(once, session, always, no)
const ONCE_ONLY = offering(once, no)

/** What a person types, and what it means. */
const TYPED: [string, unknown][] = [
  ['y', { answer: once }],
  ['Y', { answer: once }],
  [' yes ', { answer: once }],
  ['s', { answer: session }],
  ['a', { answer: always }],
  ['always', { answer: always }],
  ['n', { answer: no }],
  ['No', { answer: no }],
  ['N', 'reason'],
  ['N use pnpm', { answer: 'use pnpm' }],
  ['no, use pnpm', { answer: 'use pnpm' }],
  ['n: Allow once', { answer: no }],
  ['?', 'help'],
  ['help', 'help'],
  ['', undefined],
  ['yn', undefined],
  ['yes please', undefined],
  ['nope', undefined],
  ['Allow once', undefined],
  ['\u001b[A', undefined],
]

for (const [line, choice] of TYPED) {
  test(`readChoice() takes ${JSON.stringify(line)} for ${JSON.stringify(choice) ?? 'nothing'}`, () =>
    assert.deepEqual(readChoice(line, ALL), choice))
}

test('readChoice() takes no key that is not offered', () => {
  assert.deepEqual(readChoice('y', ONCE_ONLY), { answer: once })
  for (const line of ['s', 'session', 'a', 'always']) assert.equal(readChoice(line, ONCE_ONLY), undefined)
})

test('denialOf() is never an answer that allows, and free of control characters', () => {
  assert.deepEqual([once, always, session, '', ' ', `\u001b[1m${once}`, 'use \u001b[Apnpm'].map(denialOf), [
    no,
    no,
    no,
    no,
    no,
    no,
    'use pnpm',
  ])
})

test('choiceLine() and choiceHelp() show what is offered', () => {
  assert.equal(choiceLine(ALL), 'y once · s in this conversation · a always · n no · N no, and why · ? more')
  assert.equal(choiceLine(ONCE_ONLY), 'y once · n no · N no, and why · ? more')
  assert.match(choiceHelp(ALL), /^ {2}s {2}.*\n {2}a {2}.*file$/m)
  assert.doesNotMatch(choiceHelp(ONCE_ONLY), /^ {2}[sa] /m)
})

function offering(...labels: string[]): AskQuestion {
  return AskQuestion.fromPartial({ question: 'Allow?', options: labels.map((label) => ({ label })) })
}
