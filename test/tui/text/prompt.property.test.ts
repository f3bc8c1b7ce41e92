import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { KEYMAP } from '../../../src/core/keys/keymap.ts'
import { toPaste } from '../../../src/tui/text/key.ts'
import { pressPrompt } from '../../../src/tui/text/prompt.ts'
import {
  EMPTY_PROMPT,
  fullPromptText,
  type Prompt,
  withCompletions,
} from '../../../src/tui/text/prompt-state.ts'
import { renderPrompt } from '../../../src/tui/view/prompt.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { parseKey } from './keys.ts'

const COMMANDS = [
  { name: 'help', args: '', summary: 'keys and commands' },
  { name: 'model', args: '[NAME]', summary: 'another model' },
  { name: 'rename', args: 'TITLE', summary: 'another title' },
]

const PIECES = [
  'a',
  'b c',
  ' ',
  '\t',
  '_x9',
  '/',
  '@',
  '@s',
  '"',
  '!',
  '#',
  '?',
  '\\',
  '/he',
  'é',
  'e\u0301',
  '\u0301',
  '👩‍👩‍👧‍👦',
  '👩',
  '\u200d',
  '🇩🇪',
  '🇩',
  '🇫🇷🇩',
  '漢字',
  'ひらがな',
  '한국',
  'ᄒ',
  'ᅡ',
  'ﾊﾟ',
  'שלום',
  'مرحبا',
  '\u202e',
  '\u0600',
  'ไทย',
  'नि',
  '\u{10f000}',
  '\ud800',
  '\x1b[31m',
  '\u200b',
  '1️⃣',
  '👍🏽',
  '🏽',
]

const piece = fc.constantFrom(...PIECES).map((text) => ({ ...parseKey('x'), text }))
const pasted = fc
  .oneof(
    fc.array(fc.constantFrom(...PIECES, '\n', '\r\n'), { maxLength: 12 }).map((parts) => parts.join('')),
    fc.integer({ min: 9, max: 14 }).map((lines) => 'line\n'.repeat(lines)),
    fc.constant('x'.repeat(2_001)),
    fc.constant('/tmp/a b.png'),
  )
  .map(toPaste)
const chord = fc.constantFrom(...KEYMAP.flatMap(({ keys }) => keys), 'page-up', 'ctrl+q').map(parseKey)
const keys = fc.array(fc.oneof({ weight: 3, arbitrary: piece }, { weight: 3, arbitrary: chord }, pasted), {
  maxLength: 40,
})
const columns = fc.integer({ min: 1, max: 60 })

const boundaries = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

function assertWhole(prompt: Prompt): void {
  const { text, caret } = prompt
  const starts = new Set([...boundaries.segment(text)].map(({ index }) => index).concat(text.length))
  assert.ok(starts.has(caret), `the caret ${caret} is in the middle of a grapheme of ${JSON.stringify(text)}`)
}

test('pressPrompt() keeps the caret between graphemes, and renderPrompt() stays within the terminal, for any keys', () => {
  fc.assert(
    fc.property(
      keys,
      columns,
      fc.integer({ min: 1, max: 30 }),
      fc.boolean(),
      (sequence, width, rows, isBusy) => {
        const context = { isBusy, columns: width, commands: COMMANDS }
        let prompt = EMPTY_PROMPT
        for (const key of sequence) {
          const { state, effects } = pressPrompt(prompt, key, context)
          prompt = state
          for (const effect of effects)
            if (effect.type === 'complete')
              prompt = withCompletions(prompt, effect.query, ['src/a.ts', 'a b/', 'c\u001b[2Jd.txt'])
          assertWhole(prompt)
          const view = { columns: width, rows, color: false, details: false }
          const { text, below } = renderPrompt(prompt, context, view)
          const { lines, caret } = text
          for (const line of [...lines, ...below.lines]) {
            assert.ok(stringWidth(line) <= width, `${JSON.stringify(line)} is wider than ${width}`)
            assert.doesNotMatch(line, /[\p{Cc}\u202a-\u202e]/u)
          }
          assert.ok(caret && caret.x >= 0 && caret.x < width && caret.y >= 0 && caret.y < lines.length)
          const colored = renderPrompt(prompt, context, { ...view, color: true })
          assert.deepEqual(colored.text.lines.map(stripVTControlCharacters), lines)
        }
      },
    ),
    { numRuns: propertyRuns(300) },
  )
})

test('undo restores every earlier text, and redo the last one', () => {
  const edits = fc.array(
    fc.oneof(piece, pasted, fc.constantFrom('backspace', 'ctrl+k', 'ctrl+y', 'alt+t', 'left').map(parseKey)),
    {
      maxLength: 30,
    },
  )
  fc.assert(
    fc.property(edits, (sequence) => {
      const context = { isBusy: false, columns: 40 }
      const press = (prompt: Prompt, key: ReturnType<typeof parseKey>) =>
        pressPrompt(prompt, key, context).state
      const texts = new Set([''])
      let prompt = EMPTY_PROMPT
      for (const key of sequence) {
        prompt = { ...press(prompt, key), menu: undefined }
        texts.add(fullPromptText(prompt))
      }
      const last = prompt.text
      let steps = 0
      for (; prompt.undos.length > 0; steps++) {
        prompt = press(prompt, parseKey('ctrl+_'))
        assert.ok(texts.has(fullPromptText(prompt)), 'undo gives a text that never was')
      }
      assert.equal(prompt.text, '')
      for (; steps > 0; steps--) prompt = press(prompt, parseKey('alt+_'))
      assert.equal(prompt.text, last)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('typing and deleting the same number of graphemes leaves the text unchanged', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'é', '漢', ' ', '👍🏽', '🇩🇪 ', 'ש'), { maxLength: 20 }),
      (parts) => {
        const context = { isBusy: false, columns: 40 }
        let prompt = EMPTY_PROMPT
        for (const text of parts) prompt = pressPrompt(prompt, { ...parseKey('x'), text }, context).state
        const count = [...boundaries.segment(prompt.text)].length
        for (let left = count; left > 0; left--)
          prompt = pressPrompt(prompt, parseKey('backspace'), context).state
        assert.equal(prompt.text, '')
      },
    ),
    { numRuns: propertyRuns(1_000) },
  )
})

test('a paste is sent unchanged, except for control characters', () => {
  const text = fc.array(fc.constantFrom('a', '漢', ' b', '\n', '👩‍👩‍👧‍👦', '\u{10f001}'), {
    minLength: 1,
    maxLength: 40,
  })
  fc.assert(
    fc.property(text, fc.boolean(), (parts, isLong) => {
      const whole = `x${parts.join('')}${isLong ? '\nmore'.repeat(20) : ''}x`
      const context = { isBusy: false, columns: 40 }
      const { state } = pressPrompt(EMPTY_PROMPT, toPaste(whole), context)
      const { effects } = pressPrompt(state, parseKey('enter'), context)
      assert.deepEqual(effects, [{ type: 'submit', text: whole }])
    }),
    { numRuns: propertyRuns(1_000) },
  )
})
