import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCredential } from '../../../src/core/base/credentials.ts'
import { QueryWords } from '../../../src/core/search/terms/query-words.ts'
import { leadingSnippet, matchingSnippet, type Snippet } from '../../../src/core/session-search/excerpt.ts'
import { MAX_SNIPPET_BYTES } from '../../../src/core/session-search/types.ts'
import { CREDENTIALS } from '../../support/mcp/credentials.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const FILLER = 'lorem ipsum dolor sit amet, consectetur adipiscing elit. '

test('matchingSnippet() returns a short text in full, with the positions of the words', () => {
  const snippet = matchingSnippet('The cron job: refactorCron()', new QueryWords('cron refactor'))
  assert.deepEqual(snippet, {
    snippet: 'The cron job: refactorCron()',
    truncated: false,
    matches: [4, 8, 14, 26],
  })
})

test('matchingSnippet() finds words as the index does', () => {
  const marked = (text: string, query: string) => mark(matchingSnippet(text, new QueryWords(query)))
  assert.equal(marked('call get_user_name(x) of USERS', 'getUserName'), 'call [get_user_name](x) of [USERS]')
  assert.equal(marked('call getUserName of USERS', 'user'), 'call get[User]Name of [USERS]')
  assert.equal(marked('Ein Café in Łódź', 'lodz cafe'), 'Ein [Café] in [Łódź]')
  assert.equal(marked('東京タワーの夜', '東京タワー'), '[東京タワー]の夜')
  assert.equal(marked('🎉 cookies, 𝐜ookie', 'cookie'), '🎉 [cookies], [𝐜ookie]')
  assert.equal(marked('cafe\u0301', 'café'), '[café]')
})

test('matchingSnippet() shows the part with the most different words', () => {
  const text = `cron ${FILLER.repeat(40)}cron cron ${FILLER.repeat(40)}the cron refactor ${FILLER.repeat(40)}refactor`
  const { snippet, truncated } = matchingSnippet(text, new QueryWords('refactor cron'))
  assert.ok(truncated)
  assert.match(snippet, /^….*the cron refactor lorem.*…$/)
  assert.ok(Buffer.byteLength(snippet) > 900)
})

test('matchingSnippet() fills the snippet when the match is at the end, and has no mark at the start of the text', () => {
  const atEnd = matchingSnippet(`${FILLER.repeat(60)}the cron`, new QueryWords('cron'))
  assert.match(atEnd.snippet, /^….*the cron$/)
  assert.ok(Buffer.byteLength(atEnd.snippet) > 900)
  const atStart = matchingSnippet(`the cron ${FILLER.repeat(60)}`, new QueryWords('cron'))
  assert.match(atStart.snippet, /^the cron.*…$/)
})

test('matchingSnippet() shows the start of a text without a match', () => {
  assert.match(matchingSnippet(FILLER.repeat(60), new QueryWords('cron')).snippet, /^lorem ipsum.*…$/)
})

test('matchingSnippet() removes control sequences and secrets from the text', () => {
  const token = CREDENTIALS['a GitHub token']!
  const { snippet } = matchingSnippet(
    `\x1b[31mred\x07 \u202etxt ${token.slice(0, 9)}\x1b[0m${token.slice(9)} end`,
    new QueryWords('red'),
  )
  assert.equal(snippet, 'red txt *** end')
})

for (const far of [0, 400, 1000, 1020, 1400, 3000]) {
  test(`matchingSnippet() hides a secret ${far} characters from the match, wherever the snippet is cut`, () => {
    const space = FILLER.repeat(60).slice(0, far)
    for (const name of ['a private key', 'a JSON web token', 'an AWS key', 'a bearer header']) {
      const value = name === 'a private key' ? longKey() : CREDENTIALS[name]!
      const words = new QueryWords('cron')
      for (const text of [
        `${value}\n${space} cron ${FILLER.repeat(30)}`,
        `${FILLER.repeat(30)} cron ${space} ${value}`,
      ]) {
        const { snippet } = matchingSnippet(text, words)
        assert.match(snippet, /cron/)
        assert.ok(!hasCredential(snippet) && !snippet.includes(value.slice(-20)), snippet)
      }
    }
  })
}

test('leadingSnippet() returns the start of a text, and the matches in it', () => {
  const { snippet, truncated, matches } = leadingSnippet(
    `cron ${FILLER.repeat(60)}cron`,
    new QueryWords('cron'),
  )
  assert.match(snippet, /^cron lorem.*…$/)
  assert.ok(truncated)
  assert.deepEqual(matches, [0, 4])
  assert.deepEqual(leadingSnippet('cron', undefined), { snippet: 'cron', truncated: false, matches: [] })
})

const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'cron ',
      'getCron ',
      'word ',
      '日本語',
      'é',
      'e\u0301',
      '\n',
      '👩‍💻',
      '🎉',
      'क़लम ',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('x'.repeat(300), '\u0301'.repeat(50), 'я'.repeat(600), FILLER.repeat(10)),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
)
const anyText = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))

test('snippets of any text are bounded, well formed, cut between characters, and mark their matches', () => {
  const words = new QueryWords('cron 日本 é')
  fc.assert(
    fc.property(anyText, (text) => {
      for (const found of [matchingSnippet(text, words), leadingSnippet(text, words)]) {
        const bytes = Buffer.from(found.snippet)
        assert.ok(bytes.length <= MAX_SNIPPET_BYTES)
        assert.ok(found.snippet.isWellFormed())
        assert.doesNotMatch(found.snippet, /\p{Cs}|^…?(?:\u200d|\p{Emoji_Modifier})|\u200d…$/u)
        let last = -1
        for (const at of found.matches) {
          assert.ok(at > last && at <= bytes.length)
          assert.notEqual(bytes[at]! & 0xc0, 0x80)
          last = at
        }
      }
    }),
    { numRuns: propertyRuns(1000) },
  )
})

function longKey(): string {
  return `-----BEGIN RSA PRIVATE KEY-----\n${`${'aB3+/'.repeat(12)}\n`.repeat(50)}aB3=\n-----END RSA PRIVATE KEY-----`
}

/** Returns the text with brackets around matches. */
function mark({ snippet, matches }: Snippet): string {
  const bytes = Buffer.from(snippet)
  const ends = [0, ...matches, bytes.length]
  return ends
    .slice(1)
    .map((end, i) => bytes.subarray(ends[i], end).toString())
    .map((part, i) => (i % 2 === 1 ? `[${part}]` : part))
    .join('')
}
