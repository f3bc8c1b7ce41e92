import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReplyFilter, type TerminalReply } from '../../../src/tui/terminal/reply-filter.ts'

const ESC = '\u001b'

/** Feeds pieces, and flushes at the end, as when nothing follows for a while. */
function filter(...pieces: readonly string[]): { keys: string; replies: TerminalReply[] } {
  const subject = new ReplyFilter()
  const outputs = pieces.map((piece) => subject.push(piece))
  return {
    keys: outputs.map(({ keys }) => keys).join('') + subject.flush(),
    replies: outputs.flatMap(({ replies }) => replies),
  }
}

const focusIn = { type: 'focus', isFocused: true } as const
const focusOut = { type: 'focus', isFocused: false } as const

/** Input that holds reports, the keys among it, and the reports. */
const INPUTS: readonly (readonly [string, string, string, readonly TerminalReply[]])[] = [
  ['focus reports between keys', `a${ESC}[Ib${ESC}[Oc`, 'abc', [focusIn, focusOut]],
  ['a focus report after Esc', `${ESC}${ESC}[I`, ESC, [focusIn]],
  [
    'a background color that ends with ST',
    `x${ESC}]11;rgb:1e1e/1e1e/2e2e${ESC}\\y`,
    'xy',
    [{ type: 'background', color: [30, 30, 46] }],
  ],
  [
    'a background color that ends with BEL',
    `${ESC}]11;rgb:ff/80/00\u0007`,
    '',
    [{ type: 'background', color: [255, 128, 0] }],
  ],
  ['a color that was not asked for', `${ESC}]4;1;rgb:0/0/0${ESC}\\k`, 'k', []],
  ['a string of the terminal', `${ESC}P>|xterm(3)${ESC}\\k`, 'k', []],
  [
    'arrow keys and function keys',
    `${ESC}[A${ESC}[1;5C${ESC}[[A${ESC}OP`,
    `${ESC}[A${ESC}[1;5C${ESC}[[A${ESC}OP`,
    [],
  ],
  ['Alt and a key', `${ESC}a${ESC}]x${ESC}_y${ESC}Pz${ESC}\r`, `${ESC}a${ESC}]x${ESC}_y${ESC}Pz${ESC}\r`, []],
  ['the kitty keyboard protocol', `${ESC}[?1u${ESC}[97;5u`, `${ESC}[?1u${ESC}[97;5u`, []],
  [
    'pasted text that looks like a report',
    `${ESC}[200~a${ESC}[Ib${ESC}]11;x${ESC}[201~${ESC}[I`,
    `${ESC}[200~a${ESC}[Ib${ESC}]11;x${ESC}[201~`,
    [focusIn],
  ],
  ['Esc', ESC, ESC, []],
  ['two Esc', ESC + ESC, ESC + ESC, []],
  ['Alt+[', `${ESC}[`, `${ESC}[`, []],
]

for (const [what, input, keys, replies] of INPUTS) {
  test(`ReplyFilter separates ${what}, however it is split`, () => {
    assert.deepEqual(filter(input), { keys, replies })
    assert.deepEqual(filter(...input), { keys, replies })
    for (let at = 1; at < input.length; at++)
      assert.deepEqual(filter(input.slice(0, at), input.slice(at)), { keys, replies }, `split at ${at}`)
  })
}

test('ReplyFilter drops half a report whose rest does not arrive', () => {
  assert.deepEqual(filter(`a${ESC}]11;rgb:1e`), { keys: 'a', replies: [] })
})

test('ReplyFilter passes text without sequences immediately', () => {
  const subject = new ReplyFilter()
  assert.deepEqual([subject.push('héllo\r').keys, subject.held], ['héllo\r', ''])
})
