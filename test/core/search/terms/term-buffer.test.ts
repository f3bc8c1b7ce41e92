import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { composeText } from '../../../../src/core/search/terms/characters.ts'
import {
  MAX_QUERY_TERMS,
  MAX_TERM_BYTES,
  TermBuffer,
  type TermMode,
} from '../../../../src/core/search/terms/term-buffer.ts'
import { hashTerm } from '../../../../src/core/search/terms/term-bytes.ts'
import { MAX_DOCUMENT_TERMS } from '../../../../src/core/search/types.ts'
import { toTermTexts } from '../../../support/brute-force.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const TERMS: readonly (readonly [what: string, text: string, terms: string])[] = [
  ['words, in lower case', 'The quick, Brown FOX!', 'the quick brown fox'],
  ['no single ASCII characters', "I don't see a c 7", 'don see'],
  ['single letters that are names', 'C and R, plan B, R&D x_y', 'c and r plan b r d xy'],
  ['words with ++ and #', 'C++17, g++ C# C#12 (F#)', 'c++ 17 g++ c# c# 12 f#'],
  ['no ++ and # that join or stand apart', 'a++b c+++ page#part issue#12 ## x', 'page part issue 12'],
  ['names that begin with a dot', '.NET ~/.env `.gitignore`', 'net .net env .env gitignore .gitignore'],
  ['no final, joining or repeated dot', 'end.Then x().then ...foo *.md .5', 'end then then foo md'],
  ['camelCase whole and in parts', 'getUserName', 'getusername get user name'],
  ['acronyms in names', 'HTTPServer parseXMLFile', 'httpserver http server parsexmlfile parse xml file'],
  ['plurals of acronyms as one', 'IDs getURLs', 'ids geturl get url'],
  [
    'plurals as their singulars',
    'users user_names movies movie entries entry',
    'user user name username movy movy entry entry',
  ],
  [
    'plurals with an e',
    'boxes box processes process caches cache matches',
    'box box process process cach cach match',
  ],
  ['words in s that are not plurals', 'class status analysis gas this', 'class status analysis gas this'],
  [
    'snake_case as its parts and joined',
    'get_user_name MAX_BYTES',
    'get user name getusername max byte maxbyte',
  ],
  ['words with hyphens', '--dry-run e-mail', 'dry run dryrun mail email'],
  ['file names and paths', 'src/core/node.js', 'src core node js nodej'],
  ['no joint where a sentence ends', 'the end.Then -- more_ _less', 'the end then more less'],
  ['numbers at the end of a name', 'sha256 HTTPServer2', 'sha256 sha 256 httpserver2 http server'],
  ['numbers, addresses, versions', '3.14 127.0.0.1 v1.20.3', '14 3.14 127 127.0.0.1 v1 20 1.20.3'],
  ['hashes whole', 'e83c5163316f89bfbde7d9ab', 'e83c5163316f89bfbde7d9ab'],
  ['bytes as text whole', 'dGhpc0lzQmFzZTY0', 'dghpc0lzqmfzzty0'],
  ['short names with digits inside in parts', 'i18nKey', 'i18nkey i18n key'],
  ['letters without their accents', 'Ünïcödé Łódź Đặng ñ', 'unicode lodz dang'],
  ['letters and accents that stand apart', 'e\u0301te\u0301', 'ete'],
  ['forms of letters as the letters', 'ﬁn ＡＢＣ straße Ⅷ 𝐁old', 'fin abc strass viii bold'],
  ['Greek with one sigma', 'Σίσυφος', 'σισυφοσ'],
  ['Cyrillic with its letters', 'ёлка Йод', 'елка йод'],
  ['words through soft hyphens and joiners', 'foo\u00adbar می\u200cخواهم', 'foobar میخواهم'],
  ['Arabic and Hebrew without points', 'مُحَمَّد שָׁלוֹם', 'محمد שלום'],
  ['vowel signs as letters', 'हिन्दी', 'हिन्दी'],
  ['characters and pairs of Japanese', '日本語', '日 本 日本 語 本語'],
  ['words next to Japanese', 'Node.jsを使う', 'node js nodej を 使 を使 う 使う'],
  ['narrow kana as wide ones', 'ｶﾞｷﾞ', 'ガ ギ ガギ'],
  ['kana and marks that stand apart', 'か\u3099く', 'が く がく'],
  ['Hangul, also taken apart', '한국 한국'.normalize('NFD'), '한 국 한국 한 국 한국'],
  ['Thai', 'ไทย', 'ไ ท ไท ย ทย'],
  ['rare ideographs', '𠀀𠀁', '𠀀 𠀁 𠀀𠀁'],
  ['nothing of emoji and lone surrogates', '🎉 \ud800 x\udc00 👩‍💻', ''],
]

for (const [what, text, terms] of TERMS) {
  test(`fill() returns ${what}`, () => {
    assert.equal(toTermTexts(text, 'document').join(' '), terms)
  })
}

test('fill() returns pairs only for a query that has them', () => {
  assert.deepEqual(toTermTexts('日本語 本 getUserName', 'query'), [
    '日本',
    '本語',
    '本',
    'getusername',
    'get',
    'user',
    'name',
  ])
})

test('fill() folds the case of a single letter in a query, unless it is English', () => {
  assert.deepEqual(toTermTexts("c pointers, R, what's a x-ray of i", 'query'), [
    ...['c', 'pointer', 'r', 'what', 'ray', 'xray', 'of'],
  ])
})

test('fill() maps the spellings of a name to one term', () => {
  const spellings = [
    'getUserName',
    'GetUserName',
    'get_user_name',
    'GET_USER_NAME',
    'get-user-name',
    'getusername',
  ]
  for (const spelling of spellings)
    assert.ok(toTermTexts(spelling, 'query').includes('getusername'), spelling)
})

test('fill() returns the position of each term in the text', () => {
  const terms = new TermBuffer()
  const text = '— Über getUser_name «日本» end'
  terms.fill(text, 'document')
  const places = Array.from({ length: terms.count }, (_, i) => text.slice(terms.froms[i], terms.tos[i]))
  assert.deepEqual(places, [
    'Über',
    'getUser',
    'get',
    'User',
    'name',
    'getUser_name',
    '日',
    '本',
    '日本',
    'end',
  ])
})

test('fill() cuts terms at 64 bytes, between characters', () => {
  assert.deepEqual(toTermTexts('x'.repeat(65), 'document'), ['x'.repeat(64)])
  assert.deepEqual(toTermTexts(`x${'я'.repeat(40)}`, 'document'), [`x${'я'.repeat(31)}`])
  assert.deepEqual(
    toTermTexts(`${'xy'.repeat(20)}_${'zя'.repeat(20)}`, 'document').at(-1),
    `${'xy'.repeat(20)}${'zя'.repeat(8)}`,
  )
  assert.deepEqual(toTermTexts(`aB${'C'.repeat(70)}`, 'document'), [`ab${'c'.repeat(62)}`])
  assert.deepEqual(toTermTexts(`.${'x'.repeat(64)}++`, 'document'), ['x'.repeat(64)])
})

test('fill() stops at the maximum number of terms of a document and a query', () => {
  const words = 'word '.repeat(70_000)
  assert.equal(toTermTexts(words, 'document').length, MAX_DOCUMENT_TERMS)
  assert.equal(toTermTexts(words, 'query').length, MAX_QUERY_TERMS)
  assert.equal(toTermTexts('x-'.repeat(100_000), 'document').length, 1)
})

const LATIN = ['a', 'b', 's', 'x', 'es', 'ch', 'É', 'ß', 'ø', 'e\u0301', 'ж', 'И\u0306', 'ﬀ', 'ک', '\u00ad']
const SIGNS = ['日', 'の', 'ガ', 'か\u3099', 'ｶﾞ', '한', 'ก', '𠀀']
const BREAKS = [' ', '_', '-', '.', '/', '\n', '—', '🎉', "'", '# ', '++ ']

test('fill() agrees with the rules for any words, joiners and signs', () => {
  const text = fc.array(fc.constantFrom(...LATIN, ...LATIN, ...SIGNS, ...BREAKS), { maxLength: 40 })
  fc.assert(
    fc.property(text, fc.constantFrom<TermMode>('document', 'query'), (pieces, mode) => {
      const lower = pieces.join('').toLowerCase()
      assert.deepEqual(toTermTexts(lower, mode), slowTerms(lower, mode))
    }),
    { numRuns: propertyRuns(2000) },
  )
})

/** Applies the rules to lower-case words without digits, one regular expression after the other. */
function slowTerms(text: string, mode: TermMode): string[] {
  const sign = '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{sc=Thai}]'
  const plain = composeText(text)
    .normalize('NFKC')
    .replaceAll(/(?<=\p{L})(?:\u00ad|\p{M})+/gu, '')
  const pieces = plain.matchAll(
    new RegExp(`${sign}+|(?:(?!${sign})\\p{L})+(?:[_.-](?:(?!${sign})\\p{L})+)*`, 'gu'),
  )
  const terms = [...pieces].flatMap(({ 0: piece, index }) => {
    if (!new RegExp(sign, 'u').test(piece)) return wordTerms(piece, { plain, index, mode })
    const signs = [...piece]
    if (mode === 'query' && signs.length > 1) return signs.slice(1).map((next, i) => signs[i] + next)
    return signs.flatMap((next, i) => (i === 0 ? [next] : [next, signs[i - 1] + next]))
  })
  return terms
    .map(withoutAccents)
    .map(singular)
    .filter((term) => Buffer.byteLength(term) > 1)
    .map((term) => term.replace(LONE, ''))
}

/** Returns a name with its parts, or a word with its variants. */
function wordTerms(
  piece: string,
  { plain, index, mode }: { plain: string; index: number; mode: TermMode },
): string[] {
  const [first = '', ...others] = piece.split(/[_.-]/)
  const dotted = /(?:^|[\s/'])\.$/.test(plain.slice(0, index)) ? [`.${first}`] : []
  if (others.length > 0) return [first, ...dotted, ...others, first + others.join('')]
  const mark = /^(?:\+\+|#)/.exec(plain.slice(index + piece.length))?.[0]
  if (mark) return [first, ...dotted, first + mark]
  const isLone = mode === 'query' && /^[b-hj-z]$/.test(piece) && plain[index - 1] !== "'"
  return [first, ...dotted, ...(isLone ? [LONE + first] : [])]
}

/** Keeps a term of one character. */
const LONE = '1'

function withoutAccents(term: string): string {
  return [...term]
    .map((char) => (/\p{sc=Latin}/u.test(char) ? char.normalize('NFD').replaceAll(/\p{M}/gu, '') : char))
    .join('')
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .normalize('NFC')
}

function singular(term: string): string {
  const isPlural = Buffer.byteLength(term) > 3 && /[a-z]{2}[a-hj-rtv-z]s$/.test(term)
  const stem = isPlural ? term.slice(0, -1) : term
  return Buffer.byteLength(stem) > 3 && /[a-z](ss|[a-z]x|ch|sh|zz)e$/.test(stem) ? stem.slice(0, -1) : stem
}

test('fill() accepts any text, and returns whole characters at their positions', () => {
  const terms = new TermBuffer()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      terms.fill(text, 'document')
      for (let i = 0; i < terms.count; i++) {
        const [start, end] = [terms.starts[i]!, terms.ends[i]!]
        assert.ok(end - start >= (/[A-Z]/.test(text) ? 1 : 2) && end - start <= MAX_TERM_BYTES)
        decoder.decode(terms.bytes.subarray(start, end))
        assert.equal(terms.hashes[i], hashTerm(terms.bytes, start, end))
        assert.ok(terms.froms[i]! < terms.tos[i]! && terms.tos[i]! <= composeText(text).length)
      }
    }),
    { numRuns: propertyRuns(2000) },
  )
})

test('fill() returns every term of a document for a query of its words', () => {
  const word = fc.constantFrom(
    'getUserName',
    'x_y',
    'HTTPServer2',
    'naïve',
    '日',
    '日本語',
    'v1.2',
    'URLs',
    'aB1c',
    'C',
    'C++17',
    '.NET',
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 10 }), (words) => {
      const document = new Set(toTermTexts(words.join(' '), 'document'))
      assert.ok(toTermTexts(words.join(' '), 'query').every((term) => document.has(term)))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('hashTerm() spreads terms over all its bits', () => {
  const bits = new Uint32Array(32)
  const encoder = new TextEncoder()
  for (let i = 0; i < 4096; i++) {
    const bytes = encoder.encode(`term${i}`)
    const hash = hashTerm(bytes, 0, bytes.length)
    for (let bit = 0; bit < 32; bit++) bits[bit]! += (hash >>> bit) & 1
  }
  for (const ones of bits) assert.ok(ones > 1800 && ones < 2300, `${ones} of 4096`)
})
