import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSender, isPrintableSender } from '../../../src/core/base/sender-name.ts'

const REFUSED: Readonly<Record<string, string>> = {
  'a space without width': 'tg:4\u200b2',
  'a mark of direction': 'tg:4\u200f2',
  'an Arabic mark of direction': 'tg:\u061c42',
  'an override of direction': 'tg:\u202e42',
  'a soft hyphen': 'tg:4\u00ad2',
  'a byte order mark': '\ufefftg:42',
  'a word joiner': 'tg:4\u20602',
  'a tag': 'tg:4\u{e0041}2',
  'a Hangul filler': 'tg:\u316442',
  'an empty braille pattern': 'tg:\u280042',
  'a space that does not break': 'tg:4\u00a02',
  'a variation selector at a digit': 'tg:42\ufe0f',
  'a joiner between letters': 'tg:a\u200db',
  'a half of a surrogate pair': 'tg:\ud83d',
  'a line feed': 'tg:1\n',
  'a blank at the end': 'tg:42 ',
  'a blank at the start': ' tg:42',
}

for (const [what, sender] of Object.entries(REFUSED)) {
  test(`a sender with ${what} is rejected, and the message shows where`, () => {
    assert.equal(isPrintableSender(sender), false)
    assert.throws(
      () => checkSender(sender, 'invalid'),
      (reason: Error) => {
        assert.match(reason.message, /^Cannot use the sender ".*": it (has the|starts or ends)/)
        assert.equal(/\ufffd|space$/.test(reason.message), true, reason.message)
        return true
      },
    )
  })
}

test('letters of every script and emoji are allowed in a sender', () => {
  for (const name of [
    'Zoë',
    'Zoe\u0308',
    'नमस्ते',
    'สวัสดี',
    'محمد',
    'שלום',
    '山田 太郎',
    '한국어',
    'Ἀθῆναι',
    '🦀',
    '❤️',
    '👩‍💻',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    '1️⃣',
  ]) {
    assert.doesNotThrow(() => checkSender(`tg:${name}`, 'invalid'), name)
    assert.equal(isPrintableSender(`tg:${name}`), true, name)
  }
  assert.doesNotThrow(() => checkSender('', 'usage'))
})
