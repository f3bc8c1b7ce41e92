import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choiceHelpLines, choiceLines, choiceNames, readChoice } from '../../../src/cli/ask/choice.ts'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { AskQuestion } from '../../../src/core/protocol/crabtalk.generated.ts'
import { toDenialAnswer } from '../../../src/core/questions/permission-answer.ts'

const { once, session, always, no } = PERMISSION_ANSWERS
const ALL = offering(once, session, always, no)
const ONCE_ONLY = offering(once, no)

/** Typed text, and its meaning. */
const TYPED: [string, unknown][] = [
  ['1', { answer: once }],
  [' 1 ', { answer: once }],
  ['2', { answer: session }],
  ['3', { answer: always }],
  ['4', { answer: no }],
  ['5', 'reason'],
  ['?', 'help'],
  ['', undefined],
  ['0', undefined],
  ['6', undefined],
  ['11', undefined],
  ['1 more thing', undefined],
  ['5 use pnpm', undefined],
  ...[
    'y',
    'Y',
    'yes',
    's',
    'a',
    'always',
    'n',
    'N',
    'no',
    'help',
    'yes please',
    'Allow once',
    '\u001b[A',
  ].map((line): [string, unknown] => [line, undefined]),
]

for (const [line, choice] of TYPED) {
  test(`readChoice() reads ${JSON.stringify(line)} as ${JSON.stringify(choice) ?? 'nothing'}`, () =>
    assert.deepEqual(readChoice(line, ALL), choice))
}

test('readChoice() accepts only offered digits, with the same meaning on every card', () => {
  assert.deepEqual(
    ['1', '4'].map((line) => readChoice(line, ONCE_ONLY)),
    [{ answer: once }, { answer: no }],
  )
  for (const line of ['2', '3']) assert.equal(readChoice(line, ONCE_ONLY), undefined)
})

test('toDenialAnswer() never returns an answer that allows, and removes control characters', () => {
  assert.deepEqual(
    [once, always, session, '', ' ', `\u001b[1m${once}`, 'use \u001b[Apnpm'].map(toDenialAnswer),
    [no, no, no, no, no, no, 'use pnpm'],
  )
})

test('choiceLines() and choiceHelpLines() show the choices, with the rules and where they are written', () => {
  const about = { rules: ['bash(npm test *)', 'bash(l\u001bs)'], agent: 'crab' }
  assert.equal(
    choiceLines(ALL, about, { columns: 100, color: false }),
    [
      '  1     Yes',
      '  2     Yes, and allow bash(npm test *) and bash(l\\x1bs) in this conversation',
      '  3     Yes, and always allow bash(npm test *) and bash(l\\x1bs) (in agents/crab.toml)',
      '  4     No',
      '  5     No, and tell the agent why',
      '',
    ].join('\n'),
  )
  assert.doesNotMatch(choiceLines(ONCE_ONLY, about, { columns: 80, color: false }), /^ {2}[23] /m)
  assert.match(choiceHelpLines(ALL, 'crab'), /^ {2}2 {2}.*\n {2}3 {2}.*agents\/crab\.toml$/m)
  assert.doesNotMatch(choiceHelpLines(ONCE_ONLY, 'crab'), /^ {2}[23] /m)
  assert.equal(choiceNames(ONCE_ONLY), '1 (Yes), 4 (No), 5 (No, and why)')
})

function offering(...labels: string[]): AskQuestion {
  return AskQuestion.fromPartial({ question: 'Allow?', options: labels.map((label) => ({ label })) })
}
