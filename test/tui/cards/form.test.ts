import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AskKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { answersTo, formCard, linesOf, pressKeys, viewOf } from './setting.ts'

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

test('a question is shown with its options, their digits, and how to answer; nothing is selected', () => {
  assert.deepEqual(linesOf(formCard([DATABASE])), [
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

/** Keys on one question after a pause each, its answer, and what of them reaches the composer. */
const SINGLE: readonly [keys: string[], answer: string | undefined, rest?: string][] = [
  [['1', 'enter'], 'SQLite'],
  [['2', 'enter'], 'Postgres'],
  [['1', 'fast:enter'], undefined, '1'],
  [['2', 'n', 'd'], undefined, '2nd'],
  [['enter'], undefined, '<enter>'],
  [['down', 'enter'], 'SQLite'],
  [['down', 'fast:down', 'enter'], 'Postgres'],
  [['down', 'fast:enter', 'enter'], undefined, '<enter>'],
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
    assert.deepEqual(answersTo(formCard([DATABASE]), ...keys), answers)
    assert.equal(pressKeys(formCard([DATABASE]), keys).rest, rest)
  })
}

/** Keys on a question with several answers, whose row 4 is for own words and row 5 gives the answer. */
const SEVERAL: readonly [keys: string[], answer: string | undefined][] = [
  [['1', 'enter', '2', 'enter', '5', 'enter'], 'Search, Memory'],
  [['3', 'enter', '1', 'enter', '5', 'enter'], 'Search, Cron'],
  [['1', 'enter', 'enter', '2', 'enter', '5', 'enter'], 'Memory'],
  [['1', 'enter', '4', 'enter', 'write:and speed', '5', 'enter'], 'Search, and speed'],
  [['5', 'enter'], undefined],
]

for (const [keys, answer] of SEVERAL) {
  test(`${JSON.stringify(keys.join(' '))} answers a question for several with ${JSON.stringify(answer) ?? 'nothing'}`, () => {
    const answers = answer === undefined ? undefined : { 'Which features?': answer }
    assert.deepEqual(answersTo(formCard([FEATURES]), ...keys), answers)
  })
}

test('several questions are tabs, answered in any order, looked over, and sent together', () => {
  const card = formCard([DATABASE, FEATURES, NAME])
  const keys = ['2', 'enter', 'tab', '1', 'enter', 'write:crab']
  const { card: looked, effects } = pressKeys(card, keys)
  assert.deepEqual(effects, [])
  assert.deepEqual(linesOf(looked).slice(1), [
    ' ✓Database   Features   ✓Question 3   Submit ',
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
  assert.deepEqual(answersTo(looked, '1', 'enter'), {
    'Which database?': 'Postgres',
    'Which features?': '',
    'What is it called?': 'crab',
  })
  assert.deepEqual(answersTo(looked, 'left', 'left', '1', 'enter', '5', 'enter', 'tab', '1', 'enter'), {
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

test('the arrows to the sides and Tab go from question to question; right after typing they do not', () => {
  const card = formCard([DATABASE, NAME])
  const shown = (...keys: string[]) => linesOf(pressKeys(card, keys).card)[2]
  assert.equal(shown('right'), '  │ What is it called?')
  assert.equal(shown('tab', 'right'), '  Database')
  assert.equal(
    pressKeys(card, ['left']).card.state.kind === 'form' && shown('left', 'left'),
    '  │ What is it called?',
  )
  assert.equal(pressKeys(card, ['fast:tab', 'fast:right']).rest, '<tab><right>')
})

test('a server is never trusted with secrets, and takes no other words where it gives a choice', () => {
  const card = formCard([DATABASE], AskKind.ELICITATION)
  assert.match(linesOf(card)[0]!, /^─ An MCP server of crab asks: do not give it secrets ─+$/)
  assert.equal(answersTo(card, '3', 'enter'), undefined)
  assert.doesNotMatch(linesOf(card).join('\n'), /own words/)
  assert.deepEqual(answersTo(formCard([NAME], AskKind.ELICITATION), '1', 'enter', 'write:x'), {
    'What is it called?': 'x',
  })
})

test('a question of crabtalk itself has no row for other words, and Esc decides nothing', () => {
  const card = formCard([DATABASE], AskKind.TRUST)
  assert.deepEqual(linesOf(card), [
    `─ crabtalk asks ${'─'.repeat(64)}`,
    '  Database',
    '  │ Which database?',
    '   1  SQLite · a file',
    '   2  Postgres · a server',
    '   A digit or arrows, then Enter · Esc not this time',
    '─'.repeat(80),
  ])
  assert.equal(answersTo(card, '3', 'enter'), undefined)
  assert.deepEqual(answersTo(card, 'escape'), { 'Which database?': '' })
})

test('only the arrows choose where a label is a number itself', () => {
  const card = formCard([{ question: 'How many?', options: [{ label: '2' }, { label: '1' }] }])
  assert.equal(answersTo(card, '2', 'enter'), undefined)
  assert.deepEqual(answersTo(card, 'down', 'down', 'enter'), { 'How many?': '1' })
})

test('the row of the mark is always in sight, and Page Up shows the question again', () => {
  const options = Array.from({ length: 30 }, (_, at) => ({
    label: `option ${at}`,
    description: 'x'.repeat(100),
  }))
  const card = formCard([{ question: 'long '.repeat(100), options }])
  for (let rows = 8; rows <= 60; rows += 4) {
    let state = card
    for (let at = 0; at < 31; at++) {
      state = pressKeys(state, ['down'], viewOf(40, rows)).card
      assert.match(linesOf(state, 40, rows).join('\n'), /^ ❯/m, `option ${at} in ${rows} rows`)
    }
    const up = pressKeys(
      state,
      Array.from({ length: 60 }, () => 'page-up'),
      viewOf(40, rows),
    )
    assert.match(linesOf(up.card, 40, rows).join('\n'), /│ long/)
  }
})
