import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toVisible } from '../../../src/core/base/visible.ts'

/** Hostile or unusual text, and how it is shown. */
const SEEN: Record<string, [string, string]> = {
  'a cleared screen': ['ls\u001b[2J', String.raw`ls\x1b[2J`],
  '8-bit controls': ['\u009b2J\u0085', String.raw`\x9b2J\x85`],
  'a carriage return': ['rm -rf ~\rls', String.raw`rm -rf ~\rls`],
  'NUL, backspace and delete': ['a\0\b\u007f', String.raw`a\x00\x08\x7f`],
  'a tab': ['a\tb', String.raw`a\tb`],
  'a bidirectional override': ['\u202elmth.\u2066', String.raw`\u202elmth.\u2066`],
  'characters without width': ['r\u200bm\ufeff\u00ad', String.raw`r\u200bm\ufeff\xad`],
  'fillers and variation selectors': ['\u3164\u115f\ufe0f', String.raw`\u3164\u115f\ufe0f`],
  'tag characters': ['\u{e0041}', String.raw`\u{e0041}`],
  'blanks other than a space': ['a\u00a0b\u3000', String.raw`a\xa0b\u3000`],
  'line separators': ['a\u2028b\u2029', String.raw`a\u2028b\u2029`],
  'half a character': ['a\ud800b', String.raw`a\ud800b`],
  'private characters': ['\ue000', String.raw`\ue000`],
}

for (const [what, [text, seen]] of Object.entries(SEEN)) {
  test(`toVisible() shows ${what}`, () => assert.equal(toVisible(text), seen))
}

test('toVisible() does not change ordinary text', () => {
  const text = 'git commit -m "Füße, 日本語, עברית, 👩"\n  # a\\x1b'
  assert.equal(toVisible(text), text)
})
