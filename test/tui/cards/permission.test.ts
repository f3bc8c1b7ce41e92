import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { armCard, openCard, pressCard, renderCard } from '../../../src/tui/cards/card.ts'
import { measureWidth } from '../../../src/tui/view/text.ts'
import {
  CRAB,
  key,
  makeCardView,
  ONCE_ONLY,
  permissionCard,
  pressKeys,
  readAnswers,
  renderLines,
} from './card-fixtures.ts'

const { once, session, always, no } = PERMISSION_ANSWERS
const BASH = {
  tool: 'bash',
  action: 'bash: npm test',
  cwd: '/work',
  reason: 'no rule allows it',
  rules: ['bash(npm test)'],
  arguments: '{"command":"npm test","timeout":5}',
}

test('the title of a card names agent and directory, of which a narrow terminal shows the end or nothing', () => {
  const title = (columns: number, directory: string, more: object = {}) =>
    renderCard(permissionCard({ ...BASH, ...more }), makeCardView(columns, 24, { directory })).lines[0]
  assert.equal(title(60, '~/proj'), `─ Run a command ${'─'.repeat(60 - 16 - 16)} crab · ~/proj ─`)
  assert.equal(title(40, '~/proj'), '─ Run a command ──────── crab · ~/proj ─')
  assert.equal(title(40, '~/src/a/very/long/path'), '─ Run a command ──────── crab · …/path ─')
  assert.equal(title(30, '~/src/a/very/long/path'), '─ Run a command ─────── crab ─')
  assert.match(title(40, '/t/\x1b[2J')!, / crab · \/t\/\\x1b\[2J ─$/)
  for (const columns of [20, 40, 80, 120, 200])
    assert.equal(measureWidth(title(columns, '~/家/漢字漢字漢字漢字漢字')!), columns)
})

test('a permission card shows the call, directory, reason, lasting rule and its file, and selects No', () => {
  assert.deepEqual(renderLines(permissionCard(BASH)), [
    `─ Run a command ${'─'.repeat(80 - 16 - 7)} crab ─`,
    '  │ npm test',
    '  in    /work',
    '  why   no rule allows it',
    '   1  Yes',
    '   2  Yes, and allow bash(npm test) in this conversation',
    '   3  Yes, and always allow bash(npm test) (in agents/crab.toml)',
    ' ❯ 4  No',
    '   5  No, and tell the agent why',
    '   A digit or arrows, then Enter · ? details · Esc no, the agent continues',
    '─'.repeat(80),
  ])
})

/** Keys, each after a pause unless marked, the expected answer, and the text that reaches the composer. */
const ANSWERS: readonly [keys: string[], answer: string | undefined, rest?: string][] = [
  [['1', 'enter'], once],
  [['2', 'enter'], session],
  [['3', 'enter'], always],
  [['4', 'enter'], no],
  [['1'], undefined],
  [['enter'], undefined, '<enter>'],
  [['enter', 'enter'], undefined, '<enter><enter>'],
  [['2', 'fast:enter'], undefined],
  [['2', 'fast:enter', 'enter'], session],
  [['fast:1', 'enter'], undefined, '1<enter>'],
  [['1', '2', 'enter'], undefined, '12<enter>'],
  [['1', ' ', 'm'], undefined, '1 m'],
  [['1', 'backspace', 'enter'], undefined, '<enter>'],
  [['6', 'enter'], undefined, '6<enter>'],
  [['0'], undefined, '0'],
  [['up', 'enter'], no],
  [['up', 'fast:enter'], undefined],
  [['up', 'fast:enter', 'enter'], no],
  [['fast:up', 'enter'], undefined, '<up><enter>'],
  [['up', 'up', 'enter'], always],
  [['up', 'fast:up', 'fast:up', 'fast:up', 'enter'], once],
  [['down', 'down', 'enter'], undefined],
  [['down', 'down', 'down', 'enter'], once],
  [['1', 'down', 'enter'], session],
  [['1', 'fast:down', 'enter'], undefined, '1<down><enter>'],
  [['1', 'fast:enter'], once],
  [['2', 'fast:enter', 'fast:x'], undefined, 'x'],
  [['2', 'fast:enter', 'backspace', 'enter'], undefined, '<enter>'],
  [['2', 'fast:enter', 'fast:enter'], undefined],
  [['2', 'fast:enter', 'fast:escape', 'enter'], undefined, '<enter>'],
  [['escape'], no],
  [['fast:escape'], undefined, '<escape>'],
  [['1', 'fast:escape', 'enter'], undefined, '<enter>'],
  [['5', 'enter', 'write:use pnpm'], 'use pnpm'],
  [['5', 'enter', 'write:Allow once'], no],
  [['5', 'enter'], undefined],
  [['?', '1', 'enter', 'enter'], once],
  [['?', 'fast:s'], undefined, 's'],
  [['?', 'fast:escape', 'escape'], no],
  [['1', '?'], undefined, '1?'],
  [['fast:?'], undefined, '?'],
  [['y', 's', 'a', 'n', 'N', ' '], undefined, 'ysanN '],
  [['type:1\r'], undefined, '1\r'],
  [['paste:1'], undefined, '1'],
  [['ctrl+d', 'ctrl+1'], undefined, 'd1'],
  [['tab', 'left', 'right', 'home', 'end'], undefined, '<tab><left><right>'],
]

for (const [keys, answer, rest = ''] of ANSWERS) {
  test(`${keys.join(' ')} answers a permission card with ${answer ?? 'nothing'}, and leaves "${rest}" to the composer`, () => {
    const answers = answer === undefined ? undefined : { 'Allow it?': answer }
    assert.deepEqual(readAnswers(permissionCard(BASH), ...keys), answers)
    assert.equal(pressKeys(permissionCard(BASH), keys).rest, rest)
  })
}

test('a digit means the same on every card: lasting choices are missing where they are not offered', () => {
  const card = permissionCard(BASH, ONCE_ONLY)
  const digits = renderLines(card).flatMap((line) => /^ . (\d) {2}/.exec(line)?.[1] ?? [])
  assert.deepEqual(digits, ['1', '4', '5'])
  assert.equal(readAnswers(card, '2', 'enter'), undefined)
  assert.deepEqual(readAnswers(card, '4', 'enter'), { 'Allow it?': no })
  assert.deepEqual(readAnswers(card, 'down', 'down', 'down', 'enter'), { 'Allow it?': once })
})

test('keys that arrive together, and keys while there is a draft, go to the composer', () => {
  const card = permissionCard(BASH)
  for (const one of ['1', 'up', 'enter', 'escape', '?']) {
    for (const [view, isAlone] of [
      [makeCardView(), false],
      [makeCardView(80, 24, { isFree: false }), true],
    ] as const) {
      const pressed = pressCard(card, key(one), { view, isAlone })
      assert.deepEqual(pressed, { state: card, effects: [], rest: [key(one)] }, one)
    }
  }
  const selected = pressKeys(card, ['1']).card
  const { rest, state } = pressCard(selected, key('enter'), { view: makeCardView(), isAlone: false })
  assert.deepEqual(rest, [key('1'), key('enter')])
  assert.deepEqual(renderLines(state), renderLines(card))
})

test('a card answers once', () => {
  const { effects, card, rest } = pressKeys(permissionCard(BASH), ['1', 'enter', '1', 'enter', '3', 'enter'])
  assert.deepEqual([effects.length, card.isArmed, rest], [1, false, '1<enter>3<enter>'])
})

test('a long diff is laid out once per width, however often it is drawn and scrolled', () => {
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
    renderCard(one, makeCardView(columns, 24, { color: true }))
  for (let time = 0; time < 5; time++) draw(card, 80)
  const end = pressKeys(card, ['page-down', 'page-up'], makeCardView(80, 24, { color: true })).card
  draw(end, 80)
  assert.equal(reads, 1)
  draw(end, 40)
  draw(end, 80)
  assert.equal(reads, 2)
})

test('? shows all arguments and what each choice does', () => {
  const lines = renderLines(pressKeys(permissionCard(BASH), ['?']).card, 80, 40)
  assert.match(
    lines.join('\n'),
    /^ {2}4 {7}denies .*\n(?: {10}.*\n)* {2}5 {7}denies .*\n(?: {10}.*\n)* {2}Ctrl\+C {2}stops the agent$/m,
  )
  assert.ok(lines.includes('  │ command: "npm test"'))
  assert.ok(lines.includes('  │ timeout: 5'))
  assert.ok(lines.some((line) => line.includes('writes the rule into agents/crab.toml')))
  assert.deepEqual(readAnswers(permissionCard(BASH), '?', 'escape'), undefined)
})

test('every command of a line is listed, each truncated by itself, with the ones that need permission', () => {
  const long = 'a'.repeat(6_000)
  const commands = [
    { text: `echo ${long}`, asks: false },
    { text: 'touch HIDDEN', asks: true },
  ]
  const request = { ...BASH, action: `bash: echo ${long}; touch HIDDEN`, commands }
  for (const [columns, rows] of [
    [80, 24],
    [40, 15],
    [200, 50],
  ] as const) {
    const lines = renderLines(permissionCard(request), columns, rows)
    assert.match(lines.join('\n'), /^ {2}ok {4}echo a+…$/m)
    assert.match(lines.join('\n'), /^ {2}asks {2}touch HIDDEN$/m)
  }
})

test('each part of a line that needs permission says why, below itself', () => {
  const commands = [
    { text: 'npm test', asks: false, reason: '' },
    { text: 'git commit -am wip', asks: true, reason: 'no rule allows git commit -am wip' },
    { text: 'cat a', asks: true, reason: 'an earlier command may change what it reads' },
  ]
  const request = { ...BASH, action: 'bash: npm test && git commit -am wip && cat a', commands }
  const lines = renderLines(permissionCard(request), 80, 30)
  assert.deepEqual(lines.slice(2, 8), [
    '  ok    npm test',
    '  asks  git commit -am wip',
    '        └ asks because: no rule allows git commit -am wip',
    '  asks  cat a',
    '        └ asks because: an earlier command may change what it reads',
    '  in    /work',
  ])
  assert.doesNotMatch(lines.join('\n'), /^ {2}why/m)
  for (const columns of [20, 40]) {
    const narrow = renderLines(permissionCard(request), columns, 60).join(' ').replace(/\s+/g, ' ')
    assert.match(narrow, /an earlier command may change what it reads/)
  }
})

test('warnings about what else a rule would permit are shown on the card', () => {
  const warnings = ['bash(node *) would permit any command without asking; name the script itself']
  const request = { ...BASH, warnings }
  assert.match(
    renderLines(permissionCard(request), 80, 24).join('\n'),
    /^ {2}why {3}no rule allows it\n {2}risk {2}bash\(node \*\) would permit any command without asking; name the script\n {8}itself$/m,
  )
})

/** Common terminal sizes. */
const ROOMS = [
  [80, 24],
  [40, 15],
  [200, 50],
  [40, 8],
  [20, 6],
] as const

for (const [columns, rows] of ROOMS) {
  test(`nothing is allowed at ${columns}x${rows} before all of it was on the screen`, () => {
    const action = `bash: cat <<'E'\n${Array.from({ length: 400 }, (_, at) => `line ${at}`).join('\n')}\nE\nrm -rf ~/important`
    const seen = new Set<string>()
    let card = pressKeys(permissionCard({ ...BASH, action }), ['1']).card
    for (let presses = 0; card.isArmed && presses < 600; presses++) {
      for (const line of renderLines(card, columns, rows)) seen.add(line)
      card = pressKeys(card, ['enter'], makeCardView(columns, rows)).card
    }
    assert.equal(card.isAnswered, true)
    const missing = Array.from({ length: 400 }, (_, at) => `  │ line ${at}`).filter((line) => !seen.has(line))
    assert.deepEqual(missing, [])
    assert.ok([...seen].some((line) => line.includes('rm -rf ~/import')))
  })
}

test('nothing is allowed at 40x15 before every risk line was on the screen', () => {
  const warnings = Array.from({ length: 12 }, (_, at) => `rule ${at} is wide`)
  const seen = new Set<string>()
  let card = pressKeys(permissionCard({ ...BASH, warnings }), ['1']).card
  let presses = 0
  for (; card.isArmed && presses < 60; presses++) {
    for (const line of renderLines(card, 40, 15)) seen.add(line)
    card = pressKeys(card, ['enter'], makeCardView(40, 15)).card
  }
  assert.equal(card.isAnswered, true)
  assert.ok(presses > 2, 'one Enter is not enough')
  const missing = warnings.filter((text) => !seen.has(`  risk  ${text}`))
  assert.deepEqual(missing, [])
})

test('what was seen at one terminal width must be seen again at another', () => {
  const action = `bash: ${'echo a; '.repeat(100)}rm -rf x`
  const wide = pressKeys(
    permissionCard({ ...BASH, action }),
    ['page-down', 'page-down', 'page-down', '1'],
    makeCardView(80, 15),
  )
  assert.deepEqual(pressKeys(wide.card, ['enter'], makeCardView(40, 15)).effects, [])
  const { effects } = pressKeys(
    wide.card,
    ['enter', 'enter', 'enter', 'enter', 'enter'],
    makeCardView(80, 15),
  )
  assert.equal(effects.length, 1)
})

test('an edit is shown as a colored diff, and scrolls inside the card', () => {
  const body = Array.from({ length: 40 }, (_, at) => `-\told ${at}\n+\tnew ${at}`).join('\n')
  const diff = `--- a.ts\n+++ a.ts\n@@ -1,40 +1,40 @@\n${body}\n`
  const card = permissionCard({ ...BASH, tool: 'write', action: 'edit a.ts', diff })
  const first = renderLines(card)
  assert.equal(first.length, 19)
  assert.match(first[0]!, /^─ Change a file ─+ 1–11 of 83 · PgUp PgDn End ─ crab ─$/)
  assert.deepEqual(first.slice(1, 6), [
    '  │ a.ts',
    '  in    /work',
    '  why   no rule allows it',
    '  │  1 -     old 0',
    '  │  1 +     new 0',
  ])
  const painted = renderCard(card, makeCardView(80, 24, { color: true })).lines
  assert.equal(painted[4], '  │ \u001b[31m 1 -     old 0\u001b[39m')
  assert.match(renderLines(pressKeys(card, ['page-down']).card)[0]!, / 11–21 of 83/)
  const end = pressKeys(
    card,
    Array.from({ length: 12 }, () => 'page-down'),
  ).card
  assert.match(renderLines(end)[0]!, /73–83 of 83/)
  assert.match(renderLines(pressKeys(end, ['page-up']).card)[0]!, /63–73 of 83/)
})

test('short pages show no row twice, and the key hints fit a narrow terminal', () => {
  const view = makeCardView(40, 15)
  const card = permissionCard({ ...BASH, diff: 'x\n'.repeat(20) })
  const [first = '', ...rest] = renderLines(card, 40, 15)
  assert.match(first, / 1–3\/\d+ /)
  assert.equal(rest.at(-1)?.trim(), 'A digit or arrows, Enter · Esc no')
  const paged = pressKeys(card, ['page-down'], view)
  assert.match(renderLines(paged.card, 40, 15)[0]!, / 4–6\/\d+ /)
  const chosen = pressKeys(card, ['1', 'enter'], view)
  assert.match(renderLines(chosen.card, 40, 15)[0]!, / 4–6\/\d+ /)
  assert.deepEqual(chosen.effects, [])
})

test('Page Up and Page Down scroll the card even while there is a draft', () => {
  const card = permissionCard({ ...BASH, diff: 'x\n'.repeat(100) })
  const { state } = pressCard(card, key('page-down'), {
    view: makeCardView(80, 24, { isFree: false }),
    isAlone: true,
  })
  assert.notDeepEqual(renderLines(state), renderLines(card))
})

test('an MCP tool is shown with its server and arguments', () => {
  const args = '{"path":"/tmp/x","content":"one\\ntwo"}'
  const card = permissionCard({
    tool: 'mcp__fs__write',
    server: 'fs',
    action: 'mcp__fs__write {…',
    arguments: args,
  })
  const lines = renderLines(card)
  assert.match(lines[0]!, /^─ Use mcp__fs__write of the MCP server fs ─+ crab ─$/)
  assert.deepEqual(lines.slice(1, 5), ['  │ path: "/tmp/x"', '  │ content:', '  │     one', '  │     two'])
})

test('control and invisible characters are shown as escapes, on the rows of their own command', () => {
  const card = permissionCard({ ...BASH, action: 'bash: ls\u001b[2K\u202ex\r\nrm -rf /\tb' })
  assert.deepEqual(renderLines(card).slice(1, 3), ['  │ ls\\x1b[2K\\u202ex\\r', '  │ rm -rf /\\tb'])
})

test('no blank of a long command is lost where its rows break', () => {
  const command = `echo '${'a  b '.repeat(40)}'`
  const lines = renderLines(permissionCard({ ...BASH, action: `bash: ${command}` }), 40, 30)
  const commandRows = lines.filter((line) => line.startsWith('  │ ')).map((line) => line.slice(4))
  assert.equal(commandRows.join(''), command)
})

test('a rule that does not fit any choice is listed in full', () => {
  const rules = ['bash(npm run a-script-with-a-long-name --with-an-option *)']
  const lines = renderLines(permissionCard({ ...BASH, rules }), 40, 30).join('\n')
  assert.equal(lines.replaceAll(/\n {8}/g, ' ').includes(rules[0]!), true, lines)
  assert.match(lines, /^ {2}saved in agents\/crab\.toml$[\s\S]*^ {3}3 {2}Yes, always$/m)
})

test('every offered choice has its digit in the last rows, however small the terminal', () => {
  for (const columns of [12, 40, 80, 200]) {
    for (let rows = 4; rows <= 60; rows++) {
      const lines = renderLines(permissionCard({ ...BASH, diff: 'x\n'.repeat(100) }), columns, rows)
      assert.ok(lines.length <= Math.max(1, rows - 3), `${lines.length} lines in ${rows} rows`)
      const foot = lines.slice(-7).join('\n')
      const digits = ['1', '2', '3', '4', '5'].filter((digit) =>
        new RegExp(`(^|[ ❯])${digit}( |$)`, 'm').test(foot),
      )
      assert.equal(digits.length, 5, `${foot} at ${columns}x${rows}`)
    }
  }
})

test('End shows the end of a card, and Yes still needs what it skipped', () => {
  const diff = `--- a\n+++ a\n@@ -0,0 +1,120 @@\n${Array.from({ length: 120 }, (_, at) => `+line ${at + 1}`).join('\n')}\n`
  const card = permissionCard({ ...BASH, tool: 'write', action: 'write: a', diff })
  const view = makeCardView(80, 40)
  const lines = (...keys: string[]) => renderCard(pressKeys(card, keys, view).card, view).lines.join('\n')
  assert.match(lines('end'), /line 120$/m)
  assert.match(lines('end', 'home'), /line 1$/m)
  assert.match(lines('end', '1'), /Enter reads on from line 2\d: Yes needs all of it/)
  assert.match(lines('end', '1', 'enter'), /line 24$/m)
  const answers = (...keys: string[]) => pressKeys(card, keys, view).effects.length
  assert.equal(answers('end', '1', 'enter', 'enter'), 0)
  assert.equal(
    answers('end', '1', ...Array.from({ length: 6 }, () => 'enter')),
    1,
    'five pages and the answer',
  )
  const typing = pressCard(card, key('end'), { view: { ...view, isFree: false }, isAlone: true })
  assert.equal(typing.rest.length, 1)
})
