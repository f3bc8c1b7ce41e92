import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ColorChoice, colorize, wantsColor } from '../../src/cli/color.ts'

type Env = Record<string, string>

/** The choice, the environment, whether it is a terminal, and the result; the first rule that applies wins. */
const CASES: [ColorChoice, Env, boolean, boolean][] = [
  ['auto', {}, true, true],
  ['auto', {}, false, false],
  ['auto', { TERM: 'dumb' }, true, false],
  ['auto', { TERM: 'xterm' }, true, true],
  ['auto', { NO_COLOR: '1' }, true, false],
  ['auto', { NO_COLOR: '' }, true, true],
  ['auto', { FORCE_COLOR: '1' }, false, true],
  ['auto', { FORCE_COLOR: '0' }, false, false],
  ['auto', { FORCE_COLOR: '0' }, true, true],
  ['auto', { FORCE_COLOR: 'false' }, false, false],
  ['auto', { CLICOLOR_FORCE: '1' }, false, true],
  ['auto', { CLICOLOR_FORCE: '', FORCE_COLOR: '' }, false, false],
  ['auto', { FORCE_COLOR: '3', TERM: 'dumb' }, true, true],
  ['auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
  ['always', { NO_COLOR: '1', TERM: 'dumb' }, false, true],
  ['never', { FORCE_COLOR: '1' }, true, false],
]

for (const [choice, env, isTerminal, wanted] of CASES) {
  const where = isTerminal ? 'a terminal' : 'a pipe'
  test(`wantsColor() returns ${wanted} for ${choice} with ${JSON.stringify(env)} on ${where}`, () => {
    assert.equal(wantsColor(choice, env, { isTerminal }), wanted)
  })
}

test('colorize() adds nothing when colors are off', () => {
  assert.equal(colorize('error', 'red', false), 'error')
  assert.equal(colorize('error', 'red', true), '\u001b[31merror\u001b[39m')
})
