import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AskKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { formCard, makeCardView, pressKeys, readAnswers, renderLines } from './card-fixtures.ts'

const DATABASE = {
  question: 'Which database?',
  header: 'Database',
  options: [
    { label: 'SQLite', description: 'a file' },
    { label: 'Postgres', description: 'a server' },
  ],
}
const FEATURES = {
  question: 'Which features?',
  header: 'Features',
  options: [{ label: 'Search' }, { label: 'Memory' }, { label: 'Cron' }],
  multiSelect: true,
}
const NAME = { question: 'What is it called?' }

test('a question shows its options, their digits and how to answer, with nothing selected', () => {
  assert.deepEqual(renderLines(formCard([DATABASE])), [
    `─ crab asks ${'─'.repeat(68)}`,
    '  Database',
    '  │ Which database?',
    '   1  SQLite · a file',
    '   2  Postgres · a server',
    '   3  Your own words',
    '   A digit or arrows, then Enter · Esc sends no answer',
    '─'.repeat(80),
  ])
})

/** Keys on one question after a pause each, the expected answer, and the text that reaches the composer. */
const SINGLE: readonly [keys: string[], answer: string | undefined, rest?: string][] = [
  [['1', 'enter'], 'SQLite'],
  [['2', 'enter'], 'Postgres'],
  [['1', 'fast:enter'], 'SQLite'],
  [['2', 'n', 'd'], undefined, '2nd'],
  [['enter'], undefined, '<enter>'],
  [['down', 'enter'], 'SQLite'],
  [['down', 'fast:down', 'enter'], 'Postgres'],
  [['down', 'fast:enter', 'enter'], 'SQLite'],
  [['4', 'enter'], undefined, '4<enter>'],
  [['3', 'enter', 'write:a file of my own'], 'a file of my own'],
  [['3', 'enter', 'write:postgres'], 'Postgres'],
  [['x', ' ', 'type:yes', 'paste:two\nlines'], undefined, 'x yestwo\nlines'],
  [['escape'], ''],
  [['fast:escape'], undefined, '<escape>'],
]

for (const [keys, answer, rest = ''] of SINGLE) {
  test(`${JSON.stringify(keys.join(' '))} answers a question with ${JSON.stringify(answer) ?? 'nothing'}`, () => {
    const answers = answer === undefined ? undefined : { 'Which database?': answer }
    assert.deepEqual(readAnswers(formCard([DATABASE]), ...keys), answers)
    assert.equal(pressKeys(formCard([DATABASE]), keys).rest, rest)
  })
}

/** Keys on a question with several answers; row 4 is for own words and row 5 sends the answer. */
const SEVERAL: readonly [keys: string[], answer: string | undefined][] = [
  [['1', 'enter', '2', 'enter', '5', 'enter'], 'Search, Memory'],
  [['3', 'enter', '1', 'enter', '5', 'enter'], 'Search, Cron'],
  [['1', 'enter', 'enter', '2', 'enter', '5', 'enter'], 'Memory'],
  [['1', 'enter', '4', 'enter', 'write:and speed', '5', 'enter'], 'Search, and speed'],
  [['5', 'enter'], undefined],
]

for (const [keys, answer] of SEVERAL) {
  test(`${JSON.stringify(keys.join(' '))} answers a multiple-choice question with ${JSON.stringify(answer) ?? 'nothing'}`, () => {
    const answers = answer === undefined ? undefined : { 'Which features?': answer }
    assert.deepEqual(readAnswers(formCard([FEATURES]), ...keys), answers)
  })
}

test('several questions are tabs that are answered in any order, reviewed, and sent together', () => {
  const card = formCard([DATABASE, FEATURES, NAME])
  const keys = ['2', 'enter', 'tab', '1', 'enter', 'write:crab']
  const { card: reviewed, effects } = pressKeys(card, keys)
  assert.deepEqual(effects, [])
  assert.deepEqual(renderLines(reviewed).slice(1), [
    ' ✓Database   Features   ✓Question 3  [Submit]',
    '  Database',
    '  │ Postgres',
    '  Features',
    '  │ no answer',
    '  What is it called?',
    '  │ crab',
    '   1  Send these answers',
    '   2  Change them',
    '   A digit or arrows, then Enter · Tab next question · Esc sends no answer',
    '─'.repeat(80),
  ])
  assert.deepEqual(readAnswers(reviewed, '1', 'enter'), {
    'Which database?': 'Postgres',
    'Which features?': '',
    'What is it called?': 'crab',
  })
  assert.deepEqual(readAnswers(reviewed, 'left', 'left', '1', 'enter', '5', 'enter', 'tab', '1', 'enter'), {
    'Which database?': 'Postgres',
    'Which features?': 'Search',
    'What is it called?': 'crab',
  })
  assert.deepEqual(readAnswers(reviewed, 'escape'), {
    'Which database?': '',
    'Which features?': '',
    'What is it called?': '',
  })
})

test('tabs whose names are equal when truncated are numbered', () => {
  const questions = ['String', 'String of a form', 'Number'].map((header) => ({ question: header, header }))
  const tabs = (columns: number) => renderLines(formCard(questions), columns)[1]
  assert.equal(tabs(80), '[String]  String of a form   Number   Submit ')
  assert.equal(tabs(32), '[1 St…]  2 St…   3 Nu…   Subm… ')
  const many = Array.from({ length: 12 }, (_, at) => ({ question: `${at}`, header: `String ${at}` }))
  const names = renderLines(formCard(many), 80)[1]!.split(/ {2,}/)
  assert.equal(new Set(names).size, names.length)
})

test('left, right and Tab move between questions, but not directly after typing', () => {
  const card = formCard([DATABASE, NAME])
  const renderQuestion = (...keys: string[]) => renderLines(pressKeys(card, keys).card)[2]
  assert.equal(renderQuestion('right'), '  │ What is it called?')
  assert.equal(renderQuestion('tab', 'right'), '  Database')
  assert.equal(
    pressKeys(card, ['left']).card.state.kind === 'form' && renderQuestion('left', 'left'),
    '  │ What is it called?',
  )
  assert.equal(pressKeys(card, ['fast:tab', 'fast:right']).rest, '<tab><right>')
})

test('a question from a server warns about secrets, and accepts only its own choices', () => {
  const card = formCard([DATABASE], AskKind.ELICITATION)
  assert.match(renderLines(card)[0]!, /^─ An MCP server of crab asks: do not give it secrets ─+$/)
  assert.equal(readAnswers(card, '3', 'enter'), undefined)
  assert.doesNotMatch(renderLines(card).join('\n'), /own words/)
  assert.deepEqual(readAnswers(formCard([NAME], AskKind.ELICITATION), '1', 'enter', 'write:x'), {
    'What is it called?': 'x',
  })
})

test('a question from crabtalk itself has no row for other words, and Esc answers nothing', () => {
  const card = formCard([DATABASE], AskKind.TRUST)
  assert.deepEqual(renderLines(card), [
    `─ crabtalk asks ${'─'.repeat(64)}`,
    '  Database',
    '  │ Which database?',
    '   1  SQLite · a file',
    '   4  Postgres · a server',
    '   A digit or arrows, then Enter · Esc not this time',
    '─'.repeat(80),
  ])
  assert.equal(readAnswers(card, '2', 'enter'), undefined)
  assert.deepEqual(readAnswers(card, '4', 'enter'), { 'Which database?': 'Postgres' })
  assert.deepEqual(readAnswers(card, 'escape'), { 'Which database?': '' })
})

test('only the arrows select a row when labels are numbers', () => {
  const card = formCard([{ question: 'How many?', options: [{ label: '2' }, { label: '1' }] }])
  assert.equal(readAnswers(card, '2', 'enter'), undefined)
  assert.deepEqual(readAnswers(card, 'down', 'down', 'enter'), { 'How many?': '1' })
})

test('the selected row is always visible, and Page Up shows the question again', () => {
  const options = Array.from({ length: 30 }, (_, at) => ({
    label: `option ${at}`,
    description: 'x'.repeat(100),
  }))
  const card = formCard([{ question: 'long '.repeat(100), options }])
  for (let rows = 8; rows <= 60; rows += 4) {
    let state = card
    for (let at = 0; at < 31; at++) {
      state = pressKeys(state, ['down'], makeCardView(40, rows)).card
      assert.match(renderLines(state, 40, rows).join('\n'), /^ ❯/m, `option ${at} in ${rows} rows`)
    }
    const up = pressKeys(
      state,
      Array.from({ length: 60 }, () => 'page-up'),
      makeCardView(40, rows),
    )
    assert.match(renderLines(up.card, 40, rows).join('\n'), /│ long/)
  }
})
