import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { readSources } from './support/imports.ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = readSources('bin', 'src', 'components').filter(({ path }) => !path.includes('.generated.'))
/** The tests, the benchmarks and the scripts, without this file, which names the banned phrases. */
const TESTS = readSources('test', 'bench', 'scripts').filter(
  ({ path }) => !path.endsWith('vocabulary.test.ts'),
)

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let|enum) (\w+)/gm
/** A doc or block comment at the start of a line, or a run of line comments. */
const COMMENT = /^[ \t]*\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*|[ \t])\/\/(.*(?:\n[ \t]*\/\/.*)*)/gm
/** Names that do not tell a reader the field's word, which is in docs/glossary.md. */
const BANNED =
  /^(Begun|CutOff|Doomed|Finding|Flaw|Happening|Holders|Holding|Options|Outcome|Place|Ports|Problem|Reading|Roster|Seen|Setting|Speech|Standing|Staying|Told|Wanted|WayBack|Ways|told|kept|asked|made|begun|given|said|wanted|[a-z]\w*Of)$/
/** The name of a test or of a group of tests. */
const TEST_NAME = /\b(?:test|describe|it)\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g
/** Prefixes of constants that should be MAX_ or MIN_. */
const LIMIT_PREFIX = /\b(?:MOST|LEAST|LONGEST)_\w+/g
/** Participles that do not say what a variable holds. */
const PARTICIPLE = /\b(?:const|let)\s+(?:told|said|asked|kept|given|wanted)\b/g
/** British spellings; the tree spells as its options and libraries do. */
const SPELLING =
  /\w*(?:colour|catalogue|neighbour|labelled|(?:normali|saniti|summari|recogni|initiali|seriali|organi|optimi)s(?:e|ing|ation))\w*/gi
/** A long option of BSD programs, which the rules for safe commands have to name. */
const BSD_OPTION = "'context color colour'"
const OPENING = /^(?:As|For|How|Of|So|What|Where|Which|Who|Whom|Whose|Why)\b/
const ARCHAIC =
  /\b(?:is|are|was|were) no (?!longer\b|more\b|one\b)|\b(?:nobody|somebody|whoever|so many|as it were)\b/i
const THERE_IS_NO = /\bthere (?:is|are|was|were) no\b/gi
/** Phrases that texts for the user do not use: the field's words are in AGENTS.md and docs/glossary.md. */
const BANNED_PHRASE = new RegExp(
  [
    '(?<!\\bthere )\\b(?:is|are|was|were) no (?!longer\\b|more\\b|one\\b)',
    '\\bthere (?:is|are|was|were) (?:no such|none)\\b',
    "(?<!['.])\\bnobody\\b(?!:)", // 'nobody' is a value of the session files
    '\\b(?:somebody|whoever|whomever|begun|mend(?:s|ed)?)\\b',
    '\\b(?:so many|as it were|of none|none that|that is none|that there (?:is|are)|of before|goes on)\\b',
    '\\b(?:to the letter|in the place of|(?:and|or) the like|say so|at once|look(?:s|ed)? through)\\b',
    '\\b(?:of (?:its|your|their) own accord|it was said|was asked for|such as there)\\b',
  ].join('|'),
  'gi',
)
const DECISION = /\b(?:ADRs? |docs\/decisions\/)(\d{4})/g
const PATH = /(?<![\w/])(?:src|bin|test|docs|scripts|bench|components)\/[\w./-]+\w/g
const FILE = /(?<![\w/.*-])[a-z][\w-]+\.(?:ts|tsx|md)\b/g
/** References to documents that are not in this repository. */
const OUTSIDE = /\bdecisions? \d+|\bRFC 0\d{3}/g

/** `name()`, camelCase and PascalCase, in a comment; plurals of types have an `s`. */
const NAME = /(?<![\\\w{/-])(?:[A-Za-z_]\w*(?=\(\))|[a-z]+[A-Z]\w*|(?:[A-Z][a-z\d]+){2,})(?![\w-])/g
const CALLED = /(?<![$\w{.])[A-Za-z_]\w*(?=\(\))/g
const WORD = /[A-Za-z_]\w*/g
/** Names in comments that come from outside: products, algorithms, types and functions of other programs. */
const FOREIGN = new Set(
  'CommonMark MainThread MaxScore PrimitiveSchemaDefinition TypeScript exFAT getopt_long idempotentHint macOS mdBook'.split(
    ' ',
  ),
)

/** A comment of a source; consecutive lines of `//` count as one. */
interface Comment {
  /** `src/x.ts:12`. */
  at: string
  text: string
  isDoc: boolean
}

const COMMENTS = SOURCES.flatMap(readComments)
const TEST_COMMENTS = TESTS.flatMap(readComments)

test('an exported name is declared in one file only', () => {
  const files = new Map<string, Set<string>>()
  for (const { path, text } of SOURCES) {
    for (const [, name] of text.matchAll(EXPORT)) files.set(name!, (files.get(name!) ?? new Set()).add(path))
  }
  const doubles = [...files].filter(([, paths]) => paths.size > 1)
  assert.deepEqual(
    doubles.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`),
    [],
  )
})

test('exported names are words of the field, and no function is called somethingOf', () => {
  const found = SOURCES.flatMap(({ path, text }) =>
    [...text.matchAll(EXPORT)].flatMap(([, name]) => (BANNED.test(name!) ? `${path}: ${name}` : [])),
  )
  assert.deepEqual(found, [])
})

test('constants that are limits start with MAX_ or MIN_', () => {
  assert.deepEqual(
    [...SOURCES, ...TESTS].flatMap((file) => findMatches(file, LIMIT_PREFIX)),
    [],
  )
})

test('variables have nouns as names, not participles', () => {
  assert.deepEqual(
    [...SOURCES, ...TESTS].flatMap((file) => findMatches(file, PARTICIPLE)),
    [],
  )
})

test('sources, and the comments of tests, have American spelling', () => {
  const found = [
    ...SOURCES.flatMap(({ path, text }) =>
      findMatches({ path, text: text.replace(BSD_OPTION, '') }, SPELLING),
    ),
    ...TEST_COMMENTS.flatMap(({ at, text }) =>
      [...text.matchAll(SPELLING)].map(([word]) => `${at}: ${word}`),
    ),
  ]
  assert.deepEqual(found, [])
})

test('a doc comment is a sentence with a subject', () => {
  assert.deepEqual(COMMENTS.filter(({ isDoc, text }) => isDoc && OPENING.test(text)).map(quote), [])
})

test('comments are in modern English', () => {
  assert.deepEqual(COMMENTS.filter(({ text }) => ARCHAIC.test(text.replace(THERE_IS_NO, ''))).map(quote), [])
})

test('comments of tests, benchmarks and scripts are in modern English', () => {
  const found = TEST_COMMENTS.flatMap((comment) => [
    ...(comment.isDoc && OPENING.test(comment.text) ? [quote(comment)] : []),
    ...(ARCHAIC.test(comment.text.replace(THERE_IS_NO, '')) ? [quote(comment)] : []),
    ...[...comment.text.matchAll(BANNED_PHRASE)].map(([phrase]) => `${comment.at}: ${phrase}`),
  ])
  assert.deepEqual(found, [])
})

test('names of tests are plain statements, and no function in them is called somethingOf()', () => {
  const names = TESTS.flatMap(readTestNames)
  assert.ok(names.length > 1000)
  const found = names.flatMap(({ at, name }) => [
    ...[...name.matchAll(BANNED_PHRASE), ...name.matchAll(/\b[a-z]\w*Of\(\)/g)].map(
      ([word]) => `${at}: ${word}`,
    ),
    ...(OPENING.test(name) ? [`${at}: ${name}`] : []),
  ])
  assert.deepEqual(found, [])
})

test('properties take their number of random cases from propertyRuns(), so that the nightly run has more', () => {
  const found = TESTS.flatMap(({ path, text }) => [
    ...[...text.matchAll(/\bnumRuns: *\d/g)].map(({ index }) => toPosition(path, text, index)),
    ...(count(text, /\bfc\.assert\(/g) > count(text, /\bnumRuns[:,]/g) ? [`${path}: no numRuns`] : []),
  ])
  assert.deepEqual(found, [])
})

test('texts for the user are in modern English', () => {
  const found = SOURCES.flatMap(({ path, text }) => findPhrases(path, text.replace(COMMENT, blank)))
  assert.deepEqual(found, [])
})

test('the pages of docs/ and README.md are in modern English', () => {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]
  const found = pages.flatMap((path) => findPhrases(path, readFileSync(join(ROOT, path), 'utf8')))
  assert.deepEqual(found, [])
})

test('files, pages and decisions that a comment names exist', () => {
  const decisions = new Set(readDecisions().map((name) => name.slice(0, 4)))
  const files = globSync('**/*.{ts,tsx,cts,cjs,md,proto,toml}', {
    cwd: ROOT,
    exclude: ['node_modules', 'dist'],
  })
  const names = new Set(files.map((path) => basename(path)))
  const lost = COMMENTS.flatMap((comment) => {
    const found = [
      ...[...comment.text.matchAll(DECISION)].filter(([, number]) => !decisions.has(number!)),
      ...[...comment.text.matchAll(PATH)].filter(
        ([path]) => globSync(`${path}*`, { cwd: ROOT }).length === 0,
      ),
      ...[...comment.text.matchAll(FILE)].filter(([name]) => !names.has(name)),
      ...comment.text.matchAll(OUTSIDE),
    ]
    return found.map(([reference]) => `${comment.at}: ${reference}`)
  })
  assert.deepEqual(lost, [])
})

test('names of code in comments and in names of tests exist', () => {
  const known = readIdentifiers()
  const isLost = (name: string): boolean =>
    !known.has(name) && !FOREIGN.has(name) && !(/^[A-Z].*s$/.test(name) && known.has(name.slice(0, -1)))
  const comments = [...COMMENTS, ...TEST_COMMENTS].map(({ at, text }) => ({
    at,
    names: readMatches(text.replace(/biome-ignore \S+/g, ''), NAME),
  }))
  const tests = TESTS.flatMap(readTestNames).map(({ at, name }) => ({ at, names: readMatches(name, CALLED) }))
  const lost = [...comments, ...tests].flatMap(({ at, names }) =>
    names.filter(isLost).map((name) => `${at}: ${name}`),
  )
  assert.deepEqual(lost, [])
})

test('the glossary and ARCHITECTURE.md name files that exist', () => {
  for (const page of ['docs/glossary.md', 'ARCHITECTURE.md']) {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const paths = [...text.matchAll(/`((?:src|bin|test|docs|proto|scripts|components)\/[\w/.-]+)`/g)]
    assert.ok(paths.length > 10)
    assert.deepEqual(
      paths.filter(([, path]) => !existsSync(join(ROOT, path!))).map(([, path]) => `${page}: ${path}`),
      [],
    )
  }
})

test('the index of decisions has each page once, with its title, its status and headings', () => {
  const index = readFileSync(join(ROOT, 'docs/decisions/README.md'), 'utf8')
  const rows = [...index.matchAll(/^\| \[(\d{4})\]\(([^)]+)\) \| (.*?) \| (.*?) \|$/gm)]
  assert.deepEqual(rows.map(([, , file]) => file).toSorted(), readDecisions())
  for (const [, number, file, title, status] of rows) {
    const page = readFileSync(join(ROOT, 'docs/decisions', file!), 'utf8')
    assert.ok(page.startsWith(`# ${number}: ${title}\n`), `${file}: ${title}`)
    assert.doesNotMatch(title!, OPENING, file!)
    assert.doesNotMatch(page, /^\*\*(?:Context|Decision|Alternatives|Consequences|Cost|Doubts)\./m, file!)
    assert.ok(page.includes(`\nStatus: ${status}\n`), `${file}: ${status}`)
  }
})

function readDecisions(): string[] {
  return globSync('[0-9]*.md', { cwd: join(ROOT, 'docs/decisions') }).toSorted()
}

/** Returns all words of the code, also those in strings, such as keys of JSON, without the names of tests. */
function readIdentifiers(): Set<string> {
  const files = globSync('{bin,src,components,test,bench,scripts,proto}/**/*.{ts,tsx,cts,cjs,mjs,proto}', {
    cwd: ROOT,
    exclude: ['test/vocabulary.test.ts'],
  })
  return new Set(
    files.flatMap((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8')
      return readMatches(text.replace(COMMENT, '').replace(TEST_NAME, ''), WORD)
    }),
  )
}

function readMatches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([match]) => match)
}

function readTestNames({ path, text }: { path: string; text: string }): { at: string; name: string }[] {
  return [...text.matchAll(TEST_NAME)].map((match) => ({
    at: toPosition(path, text, match.index),
    name: match[2]!,
  }))
}

function readComments({ path, text }: { path: string; text: string }): Comment[] {
  return [...text.matchAll(COMMENT)].map((match) => ({
    at: toPosition(path, text, match.index),
    text: (match[1] ?? match[2]!).replace(/\n[ \t]*(\*|\/\/) ?/g, ' ').trim(),
    isDoc: match[0].trimStart().startsWith('/**'),
  }))
}

/** Returns each banned phrase as `src/x.ts:12: is no`. Identifiers cannot match, so all code is searched. */
function findPhrases(path: string, text: string): string[] {
  return findMatches({ path, text }, BANNED_PHRASE)
}

/** Returns each match as `src/x.ts:12: the match`. */
function findMatches({ path, text }: { path: string; text: string }, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(
    (match) => `${toPosition(path, text, match.index)}: ${match[0].trim()}`,
  )
}

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length
}

/** Formats a position as `src/x.ts:12`. */
function toPosition(path: string, text: string, index: number): string {
  return `${path}:${text.slice(0, index).split('\n').length}`
}

/** Keeps the lines of a comment, so that the lines of the code behind it keep their numbers. */
function blank(comment: string): string {
  return comment.replace(/[^\n]/g, '')
}

function quote({ at, text }: Comment): string {
  return `${at}: ${text.slice(0, 80)}`
}
