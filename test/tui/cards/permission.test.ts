import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { armCard, openCard, pressCard, renderCard } from '../../../src/tui/cards/card.ts'
import {
  ALL_ANSWERS,
  answersTo,
  CRAB,
  key,
  linesOf,
  ONCE_ONLY,
  permissionCard,
  pressKeys,
} from './setting.ts'

const { once, session, always, no } = PERMISSION_ANSWERS
const BASH = {
  tool: 'bash',
  action: 'bash: npm test',
  cwd: '/work',
  reason: 'no rule allows it',
  rules: ['bash(npm test)'],
  arguments: '{"command":"npm test","timeout":5}',
}

test('a permission card says what, where and why, and which rule would last', () => {
  assert.deepEqual(linesOf(permissionCard(BASH)), [
    'crab wants to run',
    '  │ npm test',
    '  in    /work',
    '  why   no rule allows it',
    '  rule  bash(npm test)',
    ' y once  s in this conversation  a always  n no  N no, and why  ? everything',
  ])
})

/** Keys, and what they answer. */
const ANSWERS: readonly [keys: string[], answer: string | undefined][] = [
  [['y'], once],
  [['Y'], once],
  [['s'], session],
  [['a'], always],
  [['n'], no],
  [['escape'], no],
  [['ctrl+d'], no],
  [['N', 'type:use pnpm', 'enter'], 'use pnpm'],
  [['N', 'type:Allow once', 'enter'], no],
  [['N', 'enter'], no],
  [['N', 'y', 'escape'], undefined],
  [['N', 'y', 'escape', 'y'], once],
  [['?'], undefined],
  [['?', 'escape'], undefined],
  [['?', 'y'], once],
  [['enter'], undefined],
  [['enter', 'enter'], once],
  [['down', 'enter'], once],
  [['right', 'right', 'enter'], session],
  [['tab', 'tab', 'tab', 'tab', 'enter'], no],
  [['up', 'enter'], undefined],
  [['shift+tab', 'left', 'left', 'enter'], no],
  [['x', '1', ' '], undefined],
  [['type:yes'], undefined],
  [['paste:y'], undefined],
  [['ctrl+y'], undefined],
  [['page-down', 'end', 'home'], undefined],
]

for (const [keys, answer] of ANSWERS) {
  test(`${keys.join(' ')} answers a permission card with ${answer ?? 'nothing'}`, () => {
    const answers = answer === undefined ? undefined : { 'Allow it?': answer }
    assert.deepEqual(answersTo(permissionCard(BASH), ...keys), answers)
  })
}

test('what would last is neither shown nor taken where it is not offered', () => {
  const card = permissionCard(BASH, ONCE_ONLY)
  assert.equal(answersTo(card, 's', 'a'), undefined)
  assert.equal(linesOf(card).at(-1), ' y once  n no  N no, and why  ? everything')
  assert.deepEqual(answersTo(card, 'down', 'down', 'enter'), { 'Allow it?': no })
})

test('a card that is not armed takes no key but Ctrl+C, which interrupts', () => {
  const { ask } = permissionCard(BASH)
  const card = openCard(ask, CRAB)
  assert.deepEqual(pressKeys(card, ['y', 's', 'a', 'enter', 'enter', 'escape', 'n']), { card, effects: [] })
  assert.deepEqual(pressKeys(card, ['ctrl+c']).effects, [{ type: 'interrupt' }])
  assert.deepEqual(pressKeys(armCard(card), ['ctrl+c']).effects, [{ type: 'interrupt' }])
})

test('a card that is not armed shows no keys', () => {
  const { ask } = permissionCard(BASH)
  assert.deepEqual(linesOf(openCard(ask, CRAB)), linesOf(armCard(openCard(ask, CRAB))).slice(0, -1))
  const answered = pressKeys(permissionCard(BASH), ['y']).card
  assert.doesNotMatch(linesOf(answered).join('\n'), /y once|why not/)
  const given = pressKeys(permissionCard(BASH), ['N', 'x', 'enter']).card
  assert.equal(renderCard(given, { columns: 80, rows: 24, color: false, details: false }).caret, undefined)
})

test('a long diff is laid out once for a width, however often it is drawn and scrolled', () => {
  const armed = permissionCard({ ...BASH, tool: 'write', action: 'edit a.ts' })
  const permission = { ...armed.ask.permission! }
  let reads = 0
  Object.defineProperty(permission, 'diff', {
    get: () => {
      reads += 1
      return '+ new\n'.repeat(100)
    },
  })
  const card = armCard(openCard({ ...armed.ask, permission }, CRAB))
  const draw = (one: typeof card, columns: number) =>
    renderCard(one, { columns, rows: 24, color: true, details: false })
  for (let time = 0; time < 5; time++) draw(card, 80)
  const end = pressKeys(card, ['page-down', 'end', 'page-up']).card
  draw(end, 80)
  assert.equal(reads, 1)
  draw(end, 40)
  draw(end, 80)
  assert.equal(reads, 2)
})

test('a card answers once', () => {
  const { effects, card } = pressKeys(permissionCard(BASH), ['y', 'y', 'a', 'enter'])
  assert.equal(effects.length, 1)
  assert.equal(card.isArmed, false)
})

test('? shows all arguments and what each key does', () => {
  const lines = linesOf(pressKeys(permissionCard(BASH), ['?']).card, 80, 40)
  assert.ok(lines.includes('  │ command: "npm test"'))
  assert.ok(lines.includes('  │ timeout: 5'))
  assert.ok(lines.includes("  a     writes the rule into the agent's file"))
  assert.ok(lines.includes('  ^C    stops the agent'))
})

test('an edit is shown as its diff in colours, and scrolls inside the card', () => {
  const body = Array.from({ length: 40 }, (_, at) => `-\told ${at}\n+\tnew ${at}`).join('\n')
  const diff = `--- a.ts\n+++ a.ts\n@@ -1,40 +1,40 @@\n${body}\n`
  const card = permissionCard({ ...BASH, tool: 'write', action: 'edit a.ts', diff })
  const first = linesOf(card)
  assert.equal(first.length, 18)
  assert.match(first[0]!, /^crab wants to edit +1–13 of 82 · PgUp PgDn$/)
  assert.deepEqual(first.slice(1, 4), ['  │ a.ts', '  │ @@ -1,40 +1,40 @@', '  │ -    old 0'])
  const painted = renderCard(card, { columns: 80, rows: 24, color: true, details: false }).lines
  assert.equal(painted[3], '  │ \u001b[31m-    old 0\u001b[39m')
  const next = linesOf(pressKeys(card, ['page-down']).card)
  assert.match(next[0]!, /13–25 of 82/)
  assert.deepEqual(next.slice(-4), first.slice(-4))
  const end = pressKeys(card, ['end']).card
  assert.match(linesOf(end)[0]!, /70–82 of 82/)
  assert.deepEqual(pressKeys(end, ['page-down', 'page-down']).card, end)
  assert.match(linesOf(pressKeys(end, ['page-up']).card)[0]!, /58–70 of 82/)
  assert.deepEqual(linesOf(pressKeys(end, ['home']).card), first)
})

test('an MCP tool is named with its server, and shown with its arguments', () => {
  const args = '{"path":"/tmp/x","content":"one\\ntwo"}'
  const card = permissionCard({
    tool: 'mcp__fs__write',
    server: 'fs',
    action: 'mcp__fs__write {…',
    arguments: args,
  })
  assert.deepEqual(linesOf(card).slice(0, 5), [
    'crab wants to use mcp__fs__write of the MCP server fs',
    '  │ path: "/tmp/x"',
    '  │ content:',
    '  │     one',
    '  │     two',
  ])
})

test('what a terminal would obey or hide stands in the card as an escape, on rows of its own command', () => {
  const card = permissionCard({ ...BASH, action: 'bash: ls\u001b[2K\u202ex\r\nrm -rf /\tb' })
  assert.deepEqual(linesOf(card).slice(1, 3), ['  │ ls\\x1b[2K\\u202ex\\r', '  │ rm -rf /\\tb'])
})

test('no blank of a long command is lost where its rows break', () => {
  const command = `echo '${'a  b '.repeat(40)}'`
  const lines = linesOf(permissionCard({ ...BASH, action: `bash: ${command}` }), 40, 30)
  const shown = lines.filter((line) => line.startsWith('  │ ')).map((line) => line.slice(4))
  assert.equal(shown.join(''), command)
})

test('under N a line is edited, with the caret in it', () => {
  const { card } = pressKeys(permissionCard(BASH), [
    'N',
    'type:use npm',
    'ctrl+a',
    'right',
    'paste:rs \n',
    'ctrl+e',
    '!',
  ])
  const section = renderCard(card, { columns: 80, rows: 24, color: false, details: false })
  assert.equal(section.lines.at(-1), 'why not? urs se npm!')
  assert.deepEqual(section.caret, { x: 20, y: 5 })
})

test('every choice that is offered has a key in the last rows, however small the terminal', () => {
  for (const columns of [12, 40, 80, 200]) {
    for (let rows = 8; rows <= 60; rows++) {
      const lines = linesOf(permissionCard({ ...BASH, diff: 'x\n'.repeat(100) }), columns, rows)
      assert.ok(lines.length <= rows - 6, `${lines.length} lines in ${rows} rows`)
      const foot = lines.slice(-2).join(' ')
      const keys = ['y', 's', 'a', 'n', 'N', '?'].filter((letter) => ` ${foot} `.includes(` ${letter} `))
      assert.equal(keys.length, ALL_ANSWERS.length + 2, `${foot} at ${columns}x${rows}`)
    }
  }
})

test('a permission card with no room for the command allows nothing before its end was on the screen', () => {
  const request = { ...BASH, action: `bash: ${'echo a; '.repeat(20)}rm -rf x`, cwd: '' }
  for (const rows of [4, 5, 6, 8, 10]) {
    const room = { columns: 40, rows }
    let card = permissionCard(request)
    const seen: string[] = []
    for (let presses = 0; presses < 40; presses++) {
      seen.push(...linesOf(card, room.columns, rows))
      const { state, effects } = pressCard(card, key('y'), room)
      card = state
      if (effects.length > 0) break
    }
    assert.match(seen.join('\n'), /rm -rf x/, `${rows} rows`)
    assert.equal(card.isArmed, false, 'and then it is answered')
  }
})
