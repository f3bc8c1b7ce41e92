import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AskKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { openCard, renderCard } from '../../../src/tui/cards/card.ts'
import { answersTo, CRAB, formCard, linesOf, pressKeys } from './setting.ts'

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

test('a question is shown with its options, their keys, and how to answer', () => {
  assert.deepEqual(linesOf(formCard([DATABASE])), [
    'crab asks',
    '  Database',
    '  │ Which database?',
    '› 1 SQLite · a file',
    '  2 Postgres · a server',
    '  … your own words',
    '1–2 or Enter chooses · or type · Esc gives none',
  ])
})

test('a form that is not armed shows neither keys nor a caret', () => {
  assert.deepEqual(linesOf(openCard(formCard([DATABASE]).ask, CRAB)), [
    'crab asks',
    '  Database',
    '  │ Which database?',
    '  · SQLite · a file',
    '  · Postgres · a server',
    '  … your own words',
  ])
  const free = openCard(formCard([NAME]).ask, CRAB)
  assert.equal(renderCard(free, { columns: 80, rows: 24, color: false, details: false }).caret, undefined)
})

/** Keys on one question, and its answer. */
const SINGLE: readonly [keys: string[], answer: string | undefined][] = [
  [['1'], 'SQLite'],
  [['2'], 'Postgres'],
  [['3'], undefined],
  [['enter'], 'SQLite'],
  [['down', 'enter'], 'Postgres'],
  [['up', 'type:a file of my own', 'enter'], 'a file of my own'],
  [['type:none', 'enter'], 'none'],
  [['paste:two\nlines', 'enter'], 'two lines'],
  [['type:postgres', 'enter'], 'Postgres'],
  [['x', 'backspace', 'enter'], undefined],
  [['x', 'up', 'enter'], 'Postgres'],
  [['up', '2', ' ', 'x', 'enter'], '2 x'],
  [['escape'], ''],
  [['ctrl+d'], ''],
]

for (const [keys, answer] of SINGLE) {
  test(`${JSON.stringify(keys.join(' '))} answers a question with ${JSON.stringify(answer) ?? 'nothing'}`, () => {
    const answers = answer === undefined ? undefined : { 'Which database?': answer }
    assert.deepEqual(answersTo(formCard([DATABASE]), ...keys), answers)
  })
}

/** Keys on a question with several answers. */
const SEVERAL: readonly [keys: string[], answer: string | undefined][] = [
  [[' ', 'down', ' ', 'enter'], 'Search, Memory'],
  [['3', '1', 'enter'], 'Search, Cron'],
  [['1', '1', '2', 'enter'], 'Memory'],
  [['down', 'enter'], 'Memory'],
  [['1', 'type:and speed', 'enter'], 'Search, and speed'],
  [['up', 'enter'], undefined],
]

for (const [keys, answer] of SEVERAL) {
  test(`${JSON.stringify(keys.join(' '))} answers a question for several with ${JSON.stringify(answer) ?? 'nothing'}`, () => {
    const answers = answer === undefined ? undefined : { 'Which features?': answer }
    assert.deepEqual(answersTo(formCard([FEATURES]), ...keys), answers)
  })
}

test('several questions are tabs, answered in any order, looked over, and sent together', () => {
  const card = formCard([DATABASE, FEATURES, NAME])
  const { card: looked, effects } = pressKeys(card, ['2', 'tab', 'type:crab', 'enter'])
  assert.deepEqual(effects, [])
  assert.deepEqual(
    linesOf(looked),
    [
      'crab asks',
      ' ✓Database   Features   ✓Question 3   Submit',
      '  Database',
      '  │ Postgres',
      '  Features',
      '  │ no answer',
      '  What is it called?',
      '  │ crab',
      'Enter sends these answers · Tab next question · Esc gives none',
    ].map((line, at) => (at === 1 ? `${line} ` : line)),
  )
  assert.deepEqual(answersTo(looked, 'enter'), {
    'Which database?': 'Postgres',
    'Which features?': '',
    'What is it called?': 'crab',
  })
  assert.deepEqual(answersTo(looked, 'left', 'shift+tab', '1', 'enter', 'tab', 'enter'), {
    'Which database?': 'Postgres',
    'Which features?': 'Search',
    'What is it called?': 'crab',
  })
  assert.deepEqual(answersTo(looked, 'escape'), {
    'Which database?': '',
    'Which features?': '',
    'What is it called?': '',
  })
})

test('tabs that would look the same where there is little room are numbered', () => {
  const questions = ['String', 'String of a form', 'Number'].map((header) => ({ question: header, header }))
  const tabs = (columns: number) => linesOf(formCard(questions), columns)[1]
  assert.equal(tabs(80), ' String   String of a form   Number   Submit ')
  assert.equal(tabs(32), ' 1 St…   2 St…   3 Nu…   Subm… ')
  const many = Array.from({ length: 12 }, (_, at) => ({ question: `${at}`, header: `String ${at}` }))
  const names = linesOf(formCard(many), 80)[1]!.split(/ {2,}/)
  assert.equal(new Set(names).size, names.length)
})

test('the arrows go from question to question, and round', () => {
  const card = formCard([DATABASE, NAME])
  const shown = (...keys: string[]) => linesOf(pressKeys(card, keys).card)[2]
  assert.equal(shown('right'), '  │ What is it called?')
  assert.equal(shown('right', 'right'), '  Database')
  assert.equal(shown('left'), '  Database')
  assert.equal(shown('shift+tab', 'left'), '  │ What is it called?')
  assert.equal(shown('right', 'x', 'left', 'left'), '  │ What is it called?') // they move in what is typed
})

test('a server is never trusted with secrets, and takes no other words where it gives a choice', () => {
  const card = formCard([DATABASE], AskKind.ELICITATION)
  assert.equal(linesOf(card)[0], 'An MCP server of crab asks: not to be trusted with secrets')
  assert.equal(answersTo(card, 'type:none', 'enter')?.['Which database?'], 'SQLite')
  assert.doesNotMatch(linesOf(card).join('\n'), /own words|or type/)
  assert.deepEqual(answersTo(formCard([NAME], AskKind.ELICITATION), 'x', 'enter'), {
    'What is it called?': 'x',
  })
})

test('options are chosen by letters where a label is a number itself', () => {
  const card = formCard([{ question: 'How many?', options: [{ label: '2' }, { label: '1' }] }])
  assert.deepEqual(answersTo(card, 'b'), { 'How many?': '1' })
  assert.equal(answersTo(card, '2'), undefined)
})

test('what is typed stands behind the options, with the caret in it', () => {
  const { card } = pressKeys(formCard([DATABASE]), ['type:my own', 'left'])
  const section = renderCard(card, { columns: 80, rows: 24, color: false, details: false })
  assert.equal(section.lines[5], '› … my own')
  assert.deepEqual(section.caret, { x: 9, y: 5 })
})

test('the row of the arrows is always in sight, and Page Up shows the question again', () => {
  const options = Array.from({ length: 30 }, (_, at) => ({
    label: `option ${at}`,
    description: 'x'.repeat(100),
  }))
  const card = formCard([{ question: 'long '.repeat(100), options }])
  for (let rows = 8; rows <= 60; rows += 4) {
    let state = card
    for (let at = 0; at < 31; at++) {
      assert.match(linesOf(state, 40, rows).join('\n'), /^›/m, `option ${at} in ${rows} rows`)
      state = pressKeys(state, ['down'], { columns: 40, rows }).card
    }
    const up = pressKeys(state, [
      'page-up',
      'page-up',
      'page-up',
      'page-up',
      'page-up',
      'page-up',
      'page-up',
      'page-up',
    ])
    assert.match(linesOf(up.card, 40, rows).join('\n'), rows < 12 ? /│|›/ : /│ long/)
  }
})
