import { findCredentials } from '../credentials.ts'
import { findAddressSecrets } from './address-secrets.ts'
import type { TextSpan } from './assigned-secrets.ts'
import { guessedSecret } from './guessed-options.ts'
import { isKnownProgram, isLastSecret, optionSecret, programAfter } from './program-options.ts'
import { isSecretName, isShaped } from './secret-names.ts'
import { isUnfilled } from './unfilled.ts'
import { findVaultSecrets, isVaultHelper } from './vault-words.ts'

/** The placeholder that replaces a secret in output. In input it means: keep the stored value. */
export const REDACTED = '[secret]'

/** Replaces a value with REDACTED, unless it is empty or an unfilled placeholder. */
export function redactValue(value: string): string {
  return value === '' || isUnfilled(value) ? value : REDACTED
}

/** Redacts the secrets in the words of a command line, or in a URL, that is part of an MCP entry. */
export function redactWords(words: readonly string[]): string[] {
  return findSecrets(words).map((spans, i) => redactSpans(words[i]!, spans))
}

/**
 * Redacts the secrets in text that is not part of an MCP entry. Keys in URL paths stay, because most of them
 * are ids.
 */
export function redactText(text: string): string {
  return redactSpans(text, findWordSecrets(text, {}, false))
}

/** Replaces each of the secrets in a text with REDACTED. Pass the longest secrets first. */
export function hideSecretsIn(text: string, secrets: readonly string[]): string {
  return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, REDACTED), text)
}

/** Returns, for each word, the spans of the secrets that redactWords() hides, in order and without overlap. */
export function findSecrets(words: readonly string[]): TextSpan[][] {
  const namesCredentials = isVaultHelper(words)
  let program: string | undefined
  return words.map((word, i) => {
    const find = () => findWordSecrets(word, { before: words[i - 1], program, after: words[i + 1] }, true)
    const named =
      namesCredentials && i > 2
        ? findVaultSecrets(word, (text) => findWordSecrets(text, {}, true))
        : undefined
    const spans = named ?? find()
    program = programAfter(word, program)
    return spans
  })
}

function redactSpans(text: string, spans: readonly TextSpan[]): string {
  let redacted = ''
  let end = 0
  for (const [from, to] of spans) {
    redacted += text.slice(end, from) + REDACTED
    end = to
  }
  return redacted + text.slice(end)
}

/** The context of a word, which determines its meaning. */
interface WordContext {
  /** The preceding word. */
  before?: string | undefined
  /** The program that the word belongs to, if that program has secret options. */
  program?: string | undefined
  /** The word right behind it. */
  after?: string | undefined
}

/**
 * Returns the spans of the secrets in a word, in order, with overlapping spans merged and placeholders
 * excluded.
 */
function findWordSecrets(word: string, context: WordContext, isEntry: boolean): TextSpan[] {
  const spans = [
    ...findLiteralMarkers(word),
    ...findValueSecrets(word, 0, context),
    ...(isEntry ? findGuessedSecrets(word, 0, context) : []),
    ...findSecretsInWords(word, isEntry),
    ...findAddressSecrets(word, isEntry),
    ...findPatternSecrets(word, SCHEME),
    ...findPatternSecrets(word, AUTHORIZATION),
    ...findJsonSecrets(word),
    ...findCredentials(word),
  ]
  const joined: TextSpan[] = []
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last && from < last[1]) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined.filter(([from, to]) => to > from && !isUnfilled(word.slice(from, to)))
}

/**
 * Yields each literal REDACTED in a text. It is shown like a secret, so it must be treated as one when
 * secrets are restored.
 */
function* findLiteralMarkers(text: string): Generator<TextSpan> {
  for (let at = text.indexOf(REDACTED); at >= 0; at = text.indexOf(REDACTED, at + 1)) {
    yield [at, at + REDACTED.length]
  }
}

/** Yields the secrets in each word of a script or of any other text. A quoted value ends with its quote. */
function* findSecretsInWords(text: string, isEntry: boolean): Generator<TextSpan> {
  if (!/\s/.test(text)) return
  let [before, program]: (string | undefined)[] = []
  let quote = ''
  const all = [...text.matchAll(/\S+/g)]
  for (const [i, { index, 0: piece }] of all.entries()) {
    const context = { before, program, after: all[i + 1]?.[0] }
    const open = quoteAfter(piece, quote)
    const end = quote === '' && open !== '' ? findWordEnd(text, open, index + piece.length) : undefined
    const found = [...findValueSecrets(piece, index, context)]
    if (isEntry) found.push(...findGuessedSecrets(piece, index, context))
    for (const [from, to] of found) yield [from, end ?? to]
    before = piece
    program = programAfter(piece, program)
    quote = open
  }
}

/** Returns the quote that is open after a piece of a script; empty when there is none. */
function quoteAfter(piece: string, before: string): string {
  let open = before
  for (const [mark] of piece.matchAll(/\\.|['"]/g)) {
    if (open === '' && mark.length === 1) open = mark
    else if (mark === open) open = ''
  }
  return open
}

/** Finds the end of the word that the next such quote of the line is in; undefined when it is too far away. */
function findWordEnd(text: string, quote: string, from: number): number | undefined {
  const near = text.slice(from, from + MAX_QUOTED)
  const [rest] = (quote === "'" ? /^[^'\n]*'\S*/ : /^[^"\n]*"\S*/).exec(near) ?? []
  return rest === undefined ? undefined : from + rest.length
}

/** Yields the values of options, assignments and headers: `--token value`, `NAME=value`, `Header: value`. */
function* findValueSecrets(
  word: string,
  at: number,
  { before = '', program, after }: WordContext,
): Generator<TextSpan> {
  const end = at + word.length
  if (isLastSecret(program, word, after)) return yield [at, end]
  const [from] = optionSecret(program, word, before) ?? []
  if (from !== undefined) return yield [at + from, end]
  const isOption = isSecretOption(before) && optionSecret(program, before) === undefined // mysql -pSECRET db
  if (isOption && !word.startsWith('--')) return yield [at, end]
  if (before === '-p' && !isKnownProgram(program) && isShaped(word) && !/[@:/.]/.test(word))
    return yield [at, end]
  const [, user = '', password = ''] = /^-(?:u|-user|-proxy-user)$/.test(before)
    ? (/^([^:/\s]+:)(?!\d+$)(\S+)$/.exec(word) ?? [])
    : []
  if (password !== '') return yield [at + user.length, end]
  let start = 0
  for (let i = 0; i < MAX_ASSIGNMENTS; i++) {
    ASSIGNMENT.lastIndex = start
    const [all = '', name = ''] = ASSIGNMENT.exec(word) ?? []
    if (all === '') break
    start += all.length
    if (isSecretName(name)) return yield [at + start, end]
  }
  HEADER.lastIndex = start
  const [all = '', name = ''] = HEADER.exec(word) ?? []
  if (all !== '' && isSecretName(name)) yield [at + start + all.length, end]
}

/** Yields option values that look like secrets. The options of known programs need no guess. */
function* findGuessedSecrets(
  word: string,
  at: number,
  { before = '', program }: WordContext,
): Generator<TextSpan> {
  const span = isKnownProgram(program) ? undefined : guessedSecret(word, before)
  if (span) yield [at + span[0], at + span[1]]
}

/**
 * Whether a word is an option whose name is that of a secret. `--no-auth` is not, because it takes no value.
 */
function isSecretOption(word: string): boolean {
  const [, name] = /^--?(?!no-)([a-z][\w.-]{0,127})$/i.exec(word) ?? []
  return name !== undefined && isSecretName(name)
}

function* findPatternSecrets(text: string, pattern: RegExp): Generator<TextSpan> {
  for (const { index, 0: all, 1: value = '' } of text.matchAll(pattern)) {
    yield [index + all.length - value.length, index + all.length]
  }
}

/** Yields secret members of JSON, including JSON nested in a JSON string. */
function* findJsonSecrets(text: string): Generator<TextSpan> {
  if (!text.includes('"')) return
  for (const { index, 0: all, 1: name = '' } of text.matchAll(JSON_NAME)) {
    if (!isSecretName(name)) continue
    const from = index + all.length
    const isNested = text.charCodeAt(from - 2) === 0x5c
    const value = isNested ? NESTED_VALUE : JSON_VALUE
    value.lastIndex = from
    yield [from, from + (value.exec(text)?.[0].length ?? 0)]
  }
}

const ASSIGNMENT = /-{0,2}([a-z_][\w.-]{0,127})=(?=.)/isy
const HEADER = /([a-z][\w-]{0,127}):\s*(?=[^\s/])/isy
const SCHEME = /\b(?:bearer|basic) {1,8}([^\s'"]+)/gi
const AUTHORIZATION = /\bauthorization: {0,8}(?:token|apikey|digest) {1,8}([^\s'"]+)/gi
const JSON_NAME = /"([\w.-]{1,128})\\{0,7}"\s{0,8}:\s{0,8}\\{0,7}"/g
const JSON_VALUE = /[^"\\]*(?:\\.[^"\\]*)*/sy
const NESTED_VALUE = /[^"\\]*(?:\\(?!\\{0,7}")[^"\\]*)*/sy
const MAX_ASSIGNMENTS = 8
/** The most UTF-16 units of a value in quotes, behind its first word. */
const MAX_QUOTED = 256
