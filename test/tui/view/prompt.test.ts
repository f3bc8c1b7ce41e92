import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_PROMPT, type Prompt, withCompletions } from '../../../src/tui/text/prompt-state.ts'
import { renderPrompt } from '../../../src/tui/view/prompt.ts'
import { typed } from '../text/keys.ts'

const COMMANDS = [
  { name: 'help', args: '', summary: 'keys and commands' },
  { name: 'model', args: '[NAME]', summary: 'which model answers from now on, here or for good' },
  { name: 'rename', args: 'TITLE', summary: 'another title' },
]
const WORDS = 'the quick brown fox jumps over the lazy dog and runs away'

/** Keys, the width of the terminal, and the screen; `|` is the caret, in place of the character under it. */
const SCREENS: [string[], number, string[]][] = [
  [[], 40, ['> |sk anything · ? help']],
  [[], 80, ['> |sk anything · @ files · / commands · ? help']],
  [[], 12, ['> |']],
  [['hello'], 40, ['> hello|']],
  [['hello', 'left'], 40, ['> hell|']],
  [[WORDS], 40, ['> the quick brown fox jumps over the ', '  lazy dog and runs away|']],
  [[WORDS], 80, [`> ${WORDS}|`]],
  [
    [WORDS, WORDS, WORDS, WORDS],
    200,
    [`> ${WORDS}${WORDS}${WORDS}the quick brown fox jumps `, '  over the lazy dog and runs away|'],
  ],
  [['x'.repeat(37)], 40, [`> ${'x'.repeat(37)}|`]],
  [['x'.repeat(37), 'y'], 40, [`> ${'x'.repeat(37)}`, '  y|']],
  [['x'.repeat(37), 'y', 'left'], 40, [`> ${'x'.repeat(37)}`, '  |']],
  [['漢'.repeat(19)], 40, [`> ${'漢'.repeat(18)}`, '  漢|']],
  [['one', 'alt+enter', 'alt+enter', 'three', 'up'], 40, ['> one', '  |', '  three']],
  [['a\tb'], 40, ['> a    b|']],
  [['see ', `paste:${'line\n'.repeat(120)}`, ' please'], 40, ['> see [Pasted 120 lines] please|']],
  [[`paste:${'x'.repeat(2_001)}`], 40, ['> [Pasted 2001 characters]|']],
  [['!ls -l'], 40, ['! ls -l|', '  shell command']],
  [['!', 'ctrl+a'], 40, ['| ', '  shell command']],
  [['#likes tea'], 40, ['# likes tea|', '  memory note · type a space to send it']],
  [['## title'], 40, ['> ## title|']],
  [['ctrl+c'], 40, ['> |sk anything · ? help', '  Ctrl+C again to leave']],
  [['draft', 'escape'], 40, ['> draft|', '  Esc again to clear']],
  [
    ['/'],
    40,
    [
      '> /|',
      '› /help          keys and commands',
      '  /model [NAME]  which model answers f…',
      '  /rename TITLE  another title',
    ],
  ],
  [
    ['/m', 'down'],
    80,
    [
      '> /m|',
      '  /model [NAME]  which model answers from now on, here or for good',
      '› /rename TITLE  another title',
    ],
  ],
]

test('renderPrompt() shows the text, the caret, and open menus', () => {
  for (const [keys, columns, expected] of SCREENS) {
    const { prompt } = typed(keys, { columns, commands: COMMANDS })
    assert.deepEqual(screen(prompt, { columns }), expected, `${keys.join(' ').slice(0, 60)} at ${columns}`)
  }
})

test('renderPrompt() shows the meaning of keys while a turn runs', () => {
  assert.deepEqual(screen(EMPTY_PROMPT, { columns: 40, isBusy: true }), ['> |sc interrupts'])
  assert.deepEqual(screen(EMPTY_PROMPT, { isBusy: true }), ['> |nter steers · Tab queues · Esc interrupts'])
  const { prompt } = typed(['also'], { isBusy: true })
  assert.deepEqual(screen(prompt, { columns: 40, isBusy: true }), ['> also|', '  Enter steers · Tab queues'])
})

test('renderPrompt() takes a third of the rows, and scrolls to the caret', () => {
  const lines = Array.from({ length: 20 }, (_, index) => [`line ${index}`, 'alt+enter']).flat()
  const { prompt } = typed(lines)
  const view = { columns: 40, rows: 15 }
  assert.deepEqual(screen(prompt, view), ['⋮ line 16', '  line 17', '  line 18', '  line 19', '  |'])
  const top = typed(['alt+<'], { prompt }).prompt
  assert.deepEqual(screen(top, view), ['> |ine 0', '  line 1', '  line 2', '  line 3', '⋮ line 4'])
  const middle = typed(Array(10).fill('up'), { prompt }).prompt
  assert.deepEqual(screen(middle, view), ['⋮ line 8', '  line 9', '  |ine 10', '  line 11', '⋮ line 12'])
})

test('renderPrompt() shows eight suggestions around the selected one', () => {
  const files = Array.from({ length: 20 }, (_, index) => `file ${index}.ts`)
  const open = withCompletions(typed(['@']).prompt, '', files)
  const rows = (prompt: Prompt) => screen(prompt, { columns: 40 }).slice(1)
  assert.deepEqual(rows(open), ['› file 0.ts', ...[1, 2, 3, 4, 5, 6, 7].map((index) => `  file ${index}.ts`)])
  const further = typed(Array(10).fill('down'), { prompt: open }).prompt
  assert.deepEqual(rows(further)[4], '› file 10.ts')
  assert.equal(rows(further).length, 8)
  const last = typed(['up'], { prompt: open }).prompt
  assert.deepEqual(rows(last).at(-1), '› file 19.ts')
})

test('renderPrompt() escapes control characters in file names and shows the end of long ones', () => {
  const open = withCompletions(typed(['@']).prompt, '', ['evil\x1b[2J\u202e.ts', `${'long/'.repeat(20)}x`])
  assert.deepEqual(screen(open, { columns: 40 }).slice(1), [
    '› evil\\x1b[2J\\u202e.ts',
    `  …${`${'long/'.repeat(20)}x`.slice(-36)}`,
  ])
})

test('renderPrompt() shows that a line is a note, and how to send it instead', () => {
  assert.deepEqual(screen(typed(['#buy milk']).prompt, { columns: 80 }), [
    '# buy milk|',
    '  note for the memory · start with a space to send it instead',
  ])
  assert.deepEqual(screen(typed(['# ']).prompt, { columns: 80 })[0], '#  |')
  assert.deepEqual(screen(typed(['## Title']).prompt, { columns: 80 }), ['> ## Title|'])
})

function screen(prompt: Prompt, { columns = 80, rows = 24, isBusy = false }): string[] {
  const view = { columns, rows, color: false, details: false }
  const { text, below } = renderPrompt(prompt, { isBusy, columns, commands: COMMANDS }, view)
  const [lines, { caret }] = [[...text.lines, ...below.lines], text]
  return lines.map((line, y) => (y === caret?.y ? withCaret(line, caret.x) : line))
}

/** Works for lines whose characters before the caret take one column per code unit, or two in this test. */
function withCaret(line: string, x: number): string {
  let column = 0
  let at = 0
  for (; at < line.length && column < x; at++) column += line[at] === '漢' ? 2 : 1
  return `${line.slice(0, at)}|${line.slice(at + 1)}`
}
