import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EMPTY_PROMPT, type Prompt } from '../../../../src/tui/text/prompt-state.ts'
import { readVimCommand } from '../../../../src/tui/text/vim/read-command.ts'
import { NEW_VIM } from '../../../../src/tui/text/vim/state.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { parseKey, typed } from '../keys.ts'

const START: Prompt = { ...EMPTY_PROMPT, vim: NEW_VIM }

/** Splits keys such as `<esc>2dw` into single keys. */
function keys(text: string): string[] {
  return [...text.matchAll(/<([^>]+)>|[\s\S]/g)].map(([key, name]) =>
    name === undefined ? key : (NAMES[name] ?? name),
  )
}

const NAMES: Readonly<Record<string, string>> = { esc: 'escape', cr: 'enter', bs: 'backspace', lt: '<' }

/** Types a text in insert mode, then keys from its first character on in normal mode; `|` marks the caret. */
function edited(text: string, after: string): string {
  const first = typed([`paste:${text}`, ...keys('<esc>gg0')], { prompt: START })
  return show(typed(keys(after), { prompt: first.prompt }).prompt)
}

function show({ text, caret }: Prompt): string {
  return `${text.slice(0, caret)}|${text.slice(caret)}`
}

for (const [what, text, after, shown] of [
  ['w moves to the next word', 'one two', 'w', 'one |two'],
  ['w stops at signs', 'a.b c', 'ww', 'a.|b c'],
  ['W moves over signs', 'a.b c', 'W', 'a.b |c'],
  ['w goes to the next line', 'one\n  two', 'w', 'one\n  |two'],
  ['w stops at an empty line', 'one\n\ntwo', 'w', 'one\n|\ntwo'],
  ['b moves back', 'one two', '$b', 'one |two'],
  ['b goes to the previous line', 'one\ntwo', 'Gb', '|one\ntwo'],
  ['e moves to the end of a word', 'one two', 'ee', 'one tw|o'],
  ['a count repeats a motion', 'a b c d', '3w', 'a b c |d'],
  ['$ stays on the last character', 'one', '$', 'on|e'],
  ['0 and ^ move to the start', '  one', '$0', '|  one'],
  ['^ moves to the first character', '  one', '$^', '  |one'],
  ['h does not leave the line', 'a\nb', 'Ghh', 'a\n|b'],
  ['l does not leave the line', 'ab\nc', '9l', 'a|b\nc'],
  ['j keeps the column', 'abc\ndef', 'llj', 'abc\nde|f'],
  ['gg, G and a line number', 'a\nb\nc', 'G2gg', 'a\n|b\nc'],
  ['f finds a character', 'a-b-c', 'f-', 'a|-b-c'],
  ['2f finds the second one', 'a-b-c', '2f-', 'a-b|-c'],
  ['t stops before it', 'abc-d', 't-', 'ab|c-d'],
  ['; repeats, also after t', 'a-b-c-d', 't-;', 'a-|b-c-d'],
  [', goes the other way', 'a-b-c', '2f-,', 'a|-b-c'],
  ['F finds backwards', 'a-b-c', '$F-', 'a-b|-c'],
  ['a character that is missing moves nothing', 'abc', 'fz', '|abc'],
  ['x deletes a character', 'abc', 'x', '|bc'],
  ['3x deletes three', 'abcd', '3x', '|d'],
  ['x at the end steps back', 'ab', '$x', '|a'],
  ['X deletes before', 'abc', '$X', 'a|c'],
  ['dw deletes a word', 'one two', 'dw', '|two'],
  ['d2w deletes two', 'a b c', 'd2w', '|c'],
  ['2dw deletes two', 'a b c', '2dw', '|c'],
  ['dw does not join lines', 'one\ntwo', 'dw', '|\ntwo'],
  ['de includes the last character', 'one two', 'de', '| two'],
  ['db deletes back', 'one two', '$db', 'one |o'],
  ['d$ and D delete to the end', 'one two', 'wD', 'one| '],
  ['dd deletes a line', 'a\nb\nc', 'jdd', 'a\n|c'],
  ['dd deletes the last line', 'a\nb', 'jdd', '|a'],
  ['dd of the only line', 'abc', 'dd', '|'],
  ['2dd deletes two lines', 'a\nb\nc', '2dd', '|c'],
  ['dj deletes two lines', 'a\nb\nc', 'dj', '|c'],
  ['dG deletes to the end', 'a\nb\nc', 'jdG', '|a'],
  ['dgg deletes to the start', 'a\nb\nc', 'jdgg', '|c'],
  ['dt deletes up to a character', 'f(a, b)', 'dt(', '|(a, b)'],
  ['di( deletes inside brackets', 'f(a, b)', 'fadi(', 'f(|)'],
  ['da" deletes with the quotes', 'a "b c" d', 'fbda"', 'a | d'],
  ['diw deletes a word', 'one two three', 'wdiw', 'one | three'],
  ['daw deletes it with its space', 'one two three', 'wdaw', 'one |three'],
  ['cw changes a word and keeps the space', 'one two', 'cwsix<esc>', 'si|x two'],
  ['cc changes a line and keeps its indent', '  one', 'ccx<esc>', '  |x'],
  ['C changes to the end', 'one two', 'wCx<esc>', 'one |x'],
  ['s substitutes a character', 'abc', 'sxy<esc>', 'x|ybc'],
  ['ci" changes inside quotes', 'a "b" c', 'ci"x<esc>', 'a "|x" c'],
  ['r replaces a character', 'abc', 'lrx', 'a|xc'],
  ['3r replaces three', 'abcd', '3rx', 'xx|xd'],
  ['r with too few characters does nothing', 'ab', '3rx', '|ab'],
  ['~ changes the case', 'aBc', '3~', 'Ab|C'],
  ['J joins lines', 'a\n  b', 'J', 'a| b'],
  ['yy and p put a line below', 'a\nb', 'yyp', 'a\n|a\nb'],
  ['yy and P put a line above', 'a\nb', 'jyyP', 'a\n|b\nb'],
  ['dd and p move a line', 'a\nb', 'ddp', 'b\n|a'],
  ['yw and P put text before', 'one two', 'ywP', 'one| one two'],
  ['x and p swap characters', 'ab', 'xp', 'b|a'],
  ['3p puts three times', 'ab', 'yl3p', 'aaa|ab'],
  ['i and a insert', 'b', 'ia<esc>$ac<esc>', 'ab|c'],
  ['I and A insert at the edges', '  b', 'Ac<esc>Ia<esc>', '  |abc'],
  ['o opens a line below', 'a\nb', 'ox<esc>', 'a\n|x\nb'],
  ['O opens a line above', 'a\nb', 'jOx<esc>', 'a\n|x\nb'],
  ['u undoes one change', 'one two', 'dwu', '|one two'],
  ['u undoes a whole insert', 'one', 'Aa b c<esc>u', 'on|e'],
  ['u undoes a change with its insert', 'one two', 'cwa b<esc>u', '|one two'],
  ['2u undoes two', 'abc', 'xx2u', '|abc'],
  ['Ctrl+R redoes', 'abc', 'xu<ctrl+r>', '|bc'],
  ['. repeats a deletion', 'a b c', 'dw.', '|c'],
  ['. repeats an insert', 'a b', 'cwx<esc>w.', 'x |x'],
  ['. repeats an insert with Backspace', 'a b', 'cwxy<bs><esc>w.', 'x |x'],
  ['Esc drops half a command', 'one two', '2d<esc>w', 'one |two'],
  ['an unknown command does nothing', 'one', 'dzx', '|ne'],
  ['Backspace moves left', 'abc', '$<bs>', 'a|bc'],
  ['graphemes stay whole', 'e\u0301👍🏽x', 'x', '|👍🏽x'],
] as const) {
  test(`vim: ${what}`, () => assert.equal(edited(text, after), shown))
}

test('vim: Enter sends in both modes, and the next prompt starts in insert mode', () => {
  const { prompt, effects } = typed(['h', 'i', 'escape', 'enter'], { prompt: START })
  assert.deepEqual(effects, [{ type: 'submit', text: 'hi' }])
  assert.equal(prompt.vim?.mode, 'insert')
})

test('vim: keys that arrive in one piece are single keys in normal mode', () => {
  const { prompt } = typed(['a b', 'escape', '0dwix'], { prompt: START })
  assert.equal(show(prompt), 'x|b')
})

test('vim: k and j go through the history at the edges', () => {
  const history = { ...EMPTY_PROMPT.history, sent: ['sent before'] }
  const { prompt } = typed(['escape', 'k'], { prompt: { ...START, history } })
  assert.equal(prompt.text, 'sent before')
})

test('vim: no menu opens in normal mode', () => {
  const commands = [{ name: 'model', args: '', summary: '' }]
  const { prompt } = typed(['/', 'm', 'escape', 'escape', 'x'], { prompt: START, commands })
  assert.deepEqual([prompt.menu, prompt.vim?.mode], [undefined, 'normal'])
})

test('vim: / opens the search, and ? the help on an empty prompt', () => {
  assert.deepEqual(typed(['escape', '/'], { prompt: START }).effects, [
    { type: 'open-search', scope: 'prompts', query: '' },
  ])
  assert.deepEqual(typed(['escape', '?'], { prompt: START }).effects, [{ type: 'command', line: '/help' }])
})

test('vim: any keys leave the caret inside the text, and on a character in normal mode', () => {
  const key = fc.constantFrom(
    ...'hlwbeWBE0^$gGdcyxXDCYpPuiIaAoOftT;,.sSr~J/ 123"(\n'.split(''),
    'escape',
    'enter',
    'ctrl+r',
    'backspace',
    'left',
    'up',
    'é',
    '👍🏽',
  )
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.array(key, { maxLength: 40 }),
      (text, pressed) => {
        const { prompt } = typed([`paste:${text}`, 'escape', ...pressed], { prompt: START })
        assert.ok(prompt.caret >= 0 && prompt.caret <= prompt.text.length)
        const line = prompt.text.slice(0, prompt.caret).split('\n').at(-1)!
        const isAtEnd = prompt.caret === prompt.text.length || prompt.text[prompt.caret] === '\n'
        if (prompt.vim?.mode === 'normal') assert.ok(!isAtEnd || line === '', show(prompt))
      },
    ),
    { numRuns: propertyRuns(300) },
  )
})

test('readVimCommand() reads counts, operators and targets', () => {
  assert.deepEqual(readVimCommand('2d3w'), { count: 6, operator: 'd', target: 'w' })
  assert.deepEqual(readVimCommand('dd'), { count: undefined, operator: 'd', target: 'line' })
  assert.deepEqual(readVimCommand('0'), { count: undefined, operator: undefined, target: '0' })
  for (const keys of ['2', 'd', '2d3', 'f', 'df', 'g', 'dg', 'di', 'r'])
    assert.equal(readVimCommand(keys), 'incomplete', keys)
  for (const keys of ['z', 'dz', 'gx', 'dgx']) assert.equal(readVimCommand(keys), 'unknown', keys)
})

test('parseKey() of these tests reads single characters', () => {
  assert.equal(parseKey('x').text, 'x')
})
