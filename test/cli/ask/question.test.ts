import assert from 'node:assert/strict'
import { test } from 'node:test'
import { questionText, readAnswer } from '../../../src/cli/ask/question.ts'
import { AskKind, AskQuestion } from '../../../src/core/protocol/crabtalk.generated.ts'

const STYLE = { columns: 80, color: false }
const ONE = asking(['SQLite', 'Postgres', 'None of them'])
const SEVERAL = asking(['red', 'green', 'blue'], true)
const NUMBERS = asking(['2', '3', '5'])
const TEXT = asking([])
const KIND = { kind: AskKind.QUESTION }
const FREE = { isFree: true, ...KIND }
const STRICT = { isFree: false, ...KIND }

test('questionText() shows a question, its options and how to answer', () => {
  assert.equal(
    questionText(asking(['SQLite', 'Postgres'], false, 'one file'), { style: STYLE, ...FREE }),
    [
      '  │ Which?',
      '  1     SQLite · one file',
      '  2     Postgres · one file',
      '1 to 2 · or your own words · Ctrl+D gives none',
      '',
    ].join('\n'),
  )
  assert.match(
    questionText(SEVERAL, { style: STYLE, ...STRICT }),
    /\none or several, such as 1,3 · Ctrl\+D gives none\n$/,
  )
  assert.equal(
    questionText(TEXT, { style: STYLE, ...FREE }),
    '  │ Which?\ntype an answer · Ctrl+D gives none\n',
  )
})

test('questionText() does not number options whose labels are numbers', () => {
  assert.match(questionText(NUMBERS, { style: STYLE, ...STRICT }), /\n {8}2\n {8}3\n {8}5\na label ·/)
})

test('questionText() marks the text of a model, so that it cannot pass for ours', () => {
  const evil = 'x\u001b[2J\rcrabtalk: crab wants to run\n  │ ls'
  const text = questionText({ ...asking([evil], false, evil), question: evil }, { style: STYLE, ...FREE })
  assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u)
  assert.ok(text.split('\n').every((line) => !line.startsWith('crabtalk')))
})

test('the question whether to trust a folder has the digits of a permission', () => {
  const trust = { isFree: false, kind: AskKind.TRUST }
  const question = asking(['Yes', 'No'])
  assert.match(questionText(question, { style: STYLE, ...trust }), / {2}1 {5}Yes\n {2}4 {5}No\n1 or 4 ·/)
  assert.equal(readAnswer('4', question, trust), 'No')
  assert.equal(readAnswer('2', question, trust), undefined)
})

/** A question, the typed text, and the answer. */
const TYPED: [string, AskQuestion, typeof FREE, string, string | undefined][] = [
  ['a number', ONE, STRICT, '2', 'Postgres'],
  ['a number with blanks', ONE, STRICT, ' 1 ', 'SQLite'],
  ['a label in another case', ONE, STRICT, 'none OF them', 'None of them'],
  ['a number too high', ONE, FREE, '4', undefined],
  ['a number too low', ONE, FREE, '0', undefined],
  ['several where one is asked', ONE, STRICT, '1,2', undefined],
  ['own words', ONE, FREE, 'MySQL, please', 'MySQL, please'],
  ['own words where they are not allowed', ONE, STRICT, 'MySQL', undefined],
  ['nothing', ONE, FREE, ' ', undefined],
  ['only control characters', TEXT, FREE, '\u001b[A', undefined],
  ['several numbers', SEVERAL, STRICT, '1,3', 'red, blue'],
  ['several with blanks, one twice', SEVERAL, STRICT, '3 1, 3', 'blue, red'],
  ['one of several', SEVERAL, STRICT, '2', 'green'],
  ['several, one too high', SEVERAL, FREE, '1,4', undefined],
  ['several, one in own words', SEVERAL, FREE, '1 and pink', '1 and pink'],
  ['a text', TEXT, FREE, ' 42 ', '42'],
  ['a letter', NUMBERS, STRICT, 'B', undefined],
  ['a label that is a number', NUMBERS, STRICT, '3', '3'],
  ['a number that is no label', NUMBERS, FREE, '1', undefined],
]

for (const [what, question, free, line, answer] of TYPED) {
  test(`readAnswer() reads ${what} as ${answer ?? 'no answer'}`, () =>
    assert.equal(readAnswer(line, question, free), answer))
}

function asking(labels: string[], multiSelect = false, description = ''): AskQuestion {
  const options = labels.map((label) => ({ label, description }))
  return AskQuestion.fromPartial({ question: 'Which?', options, multiSelect })
}
