import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutAfter, cutBefore } from '../../../src/core/session-search/cut-characters.ts'

const CHARACTERS: Record<string, string> = {
  'a letter of two units': '𝐜',
  'a letter with an accent': 'e\u0301',
  'a family': '👩‍👩‍👧',
  'a skin colour': '👍🏽',
  'a variant': '❤\ufe0f',
  'a syllable with a vowel sign': 'हि',
}

for (const [what, character] of Object.entries(CHARACTERS)) {
  test(`cutBefore() and cutAfter() split no character in ${what}`, () => {
    const text = `a${character}b`
    const end = text.length - 1
    for (let at = 2; at < end; at++) {
      assert.equal(cutBefore(text, at), 1)
      assert.equal(cutAfter(text, at), end)
    }
    for (const at of [0, 1, end, text.length]) {
      assert.equal(cutBefore(text, at), at)
      assert.equal(cutAfter(text, at), at)
    }
  })
}

test('cutBefore() and cutAfter() stay inside the text, and near the requested position', () => {
  assert.equal(cutBefore('abc', 9), 3)
  assert.equal(cutAfter('abc', -1), 0)
  const accents = `e${'\u0301'.repeat(1000)}`
  assert.equal(cutBefore(accents, 500), 468)
  assert.equal(cutAfter(accents, 500), 532)
  const variants = `e${'\u{e0100}'.repeat(1000)}`
  assert.ok(variants.slice(0, cutBefore(variants, 500)).isWellFormed())
  assert.ok(variants.slice(cutAfter(variants, 500)).isWellFormed())
})
