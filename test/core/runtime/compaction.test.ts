import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { firstSentence } from '../../../src/core/runtime/compaction.ts'
import { quoteUser } from '../../../src/core/runtime/quote-user.ts'
import { toTitle } from '../../../src/core/runtime/title.ts'
import { shorten, toTranscript } from '../../../src/core/runtime/transcript.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('firstSentence() returns the first sentence without Markdown, at most 60 characters', () => {
  const cases: [string, string][] = [
    ['They count crabs. And more.', 'They count crabs.'],
    ['\n## **They** count `crabs`\n\nMore.', 'They count crabs'],
    ['Version 1.2.3 of node.js is out! Yes.', 'Version 1.2.3 of node.js is out!'],
    ['数螃蟹。然后走。', '数螃蟹。'],
    ['x'.repeat(99), `${'x'.repeat(59)}…`],
    [`${'🦀'.repeat(61)}.`, `${'🦀'.repeat(59)}…`],
    ['Ev\u001b]0;pwn\u0007il\ttit\u202ele. More', 'Evil title.'],
    [
      'Call mcp__pj__whoami with _care_ and __all__ of snake_case.',
      'Call mcp__pj__whoami with care and all of snake_case.',
    ],
    ['', ''],
  ]
  for (const [text, title] of cases) assert.equal(firstSentence(text), title)
})

test('toTitle() returns one line of at most 100 characters without control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const title = toTitle(text)
      assert.ok([...title].length <= 100)
      assert.doesNotMatch(title, /\p{Cc}/u)
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('shorten() keeps both ends and says what it omitted', () => {
  assert.equal(shorten('short', 5), 'short')
  assert.equal(shorten(`${'a'.repeat(50)}${'b'.repeat(50)}`, 8), 'aa\n[… 92 characters left out …]\nbbbbbb')
})

test('toTranscript() shortens tool output before it omits messages', () => {
  const tool = { role: 'tool', content: 'r'.repeat(9000), tool_call_id: 'a', name: 'read' } as const
  const words = { role: 'user', content: 'w'.repeat(900) } as const
  for (const limit of [20_000, 3000, 1500]) {
    const text = toTranscript([words, tool], limit)
    assert.ok(text.length <= limit)
    assert.ok(text.includes(words.content))
  }
  assert.ok(toTranscript([words, tool], 300).length < 400)
})

test('toTranscript() says who spoke and what was attached', () => {
  const picture = { media_type: 'image/png', data: '', name: 'a.png' }
  const call = { id: 'a', name: 'read', arguments: '{}' }
  const text = toTranscript(
    [
      { role: 'user', content: 'see', attachments: [picture] },
      { role: 'assistant', content: 'I think', agent: 'critic' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', content: 'no', tool_call_id: 'a', name: 'read', is_error: true },
      { role: 'assistant', content: '' },
    ],
    1000,
  )
  assert.equal(
    text,
    '[user]\nsee\n(attached: a.png, image/png)\n\n[guest critic]\nI think\n\n[assistant]\n(calls read {})\n\n[result of read, failed]\nno',
  )
})

const words = (content: string) => ({ kind: 'entry', role: 'user', content, seq: 1, ts: '' }) as const
const HEADING = '## What the user said, word for word\n\n'

test('quoteUser() shortens single messages only when all of them are too long', () => {
  const long = words(`${'a'.repeat(900)} RULE ${'b'.repeat(2500)}`)
  assert.equal(quoteUser([long], 4000), `${HEADING}> ${long.content}`)
  const short = quoteUser([words('one'), long, words('two')], 3000)
  assert.match(short, /> one\n\n> a+\n> \[… \d+ characters left out …\]\n> b+\n\n> two$/)
  assert.ok(short.length < 3000)
})

test('quoteUser() keeps the last messages when there are too many, and at least one', () => {
  const many = Array.from({ length: 30 }, (_, n) => words(`m${n}`))
  assert.equal(
    quoteUser(many, 20),
    `${HEADING}(26 earlier messages are left out.)\n\n> m26\n\n> m27\n\n> m28\n\n> m29`,
  )
  assert.ok(quoteUser([words('x'.repeat(9000))], 100).length < 300)
})

test('quoteUser() leaves a note about attachments', () => {
  const picture = { media_type: 'image/png', data: '', name: 'crab.png' }
  const lines = [{ ...words(''), attachments: [picture, { media_type: 'text/plain', data: '' }] }]
  const trace = '> (attached: crab.png, image/png)\n> (attached: a file, text/plain)'
  assert.equal(quoteUser(lines, 1000), HEADING + trace)
})
