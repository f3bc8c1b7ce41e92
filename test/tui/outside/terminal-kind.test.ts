import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toNotification, toProgress, toTitleSequence } from '../../../src/tui/outside/sequences.ts'
import { detectTerminal } from '../../../src/tui/outside/terminal-kind.ts'

const xterm = { TERM: 'xterm-256color' }

for (const [name, env, expected] of [
  ['an unknown terminal', xterm, { depth: 8, notify: 'bell', hasProgress: false, hasControls: true }],
  ['true color', { ...xterm, COLORTERM: 'truecolor' }, { depth: 24 }],
  ['the Linux console', { TERM: 'linux' }, { depth: 4, hasControls: false, notify: 'bell' }],
  ['kitty', { TERM: 'xterm-kitty' }, { depth: 24, notify: 'osc99', hasProgress: false }],
  ['WezTerm', { ...xterm, TERM_PROGRAM: 'WezTerm' }, { notify: 'osc777', hasProgress: true }],
  ['Ghostty', { TERM: 'xterm-ghostty' }, { depth: 24, notify: 'osc9', hasProgress: true }],
  ['iTerm', { ...xterm, TERM_PROGRAM: 'iTerm.app' }, { notify: 'osc9', hasProgress: false }],
  ['Windows Terminal', { ...xterm, WT_SESSION: 'x' }, { depth: 24, notify: 'bell', hasProgress: true }],
  ['a new VTE', { ...xterm, VTE_VERSION: '8002' }, { hasProgress: true }],
  ['an old VTE', { ...xterm, VTE_VERSION: '7600' }, { hasProgress: false }],
  [
    'tmux in WezTerm',
    { TERM: 'tmux-256color', TMUX: '/tmp/x', TERM_PROGRAM: 'WezTerm' },
    { notify: 'bell', hasProgress: false, isTmux: true, hasControls: true },
  ],
  ['a light background', { ...xterm, COLORFGBG: '0;15' }, { isLight: true }],
  ['a dark background', { ...xterm, COLORFGBG: '15;default;0' }, { isLight: false }],
] as const) {
  test(`detectTerminal() knows ${name}`, () => {
    const kind = detectTerminal(env)
    assert.deepEqual({ ...kind, ...expected }, kind)
  })
}

test('titles and notifications hold no control characters', () => {
  const evil = 'a\u001b]2;x\u0007\u009c\nb'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  const controls = /[\u0000-\u001f\u007f-\u009f]/g
  assert.equal(toTitleSequence(evil).match(controls)?.length, 2)
  assert.equal(toNotification(evil, 'osc777', false).match(controls)?.length, 2)
})

test('toNotification() is passed through tmux', () => {
  assert.equal(toNotification('hi', 'osc9', true), '\u001bPtmux;\u001b\u001b]9;hi\u001b\u001b\\\u001b\\')
  assert.equal(toNotification('hi', 'bell', true), '\u0007')
})

test('toProgress() is OSC 9;4', () => {
  assert.equal(toProgress('busy'), '\u001b]9;4;3;0\u001b\\')
})
