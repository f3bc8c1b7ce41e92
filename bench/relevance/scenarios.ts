import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A query and its kind, one of QUERY_KINDS. */
export interface LabelledQuery {
  kind: string
  text: string
}

/** A conversation to find, with the queries that should find it. */
export interface Scenario {
  /**
   * The family: conversations that are alike except for what their queries mean. A family is never split
   * between the halves.
   */
  family: string
  topic: string
  /** Empty when it has none. */
  title: string
  summary: string
  turns: readonly Turn[]
  queries: LabelledQuery[]
}

/** One line of a conversation. */
export interface Turn {
  by: 'user' | 'assistant' | 'call' | 'result'
  text: string
}

/** The ways in which users search for what they remember. */
export const QUERY_KINDS = [
  ...['keywords', 'question', 'own words', 'synonyms', 'typo'],
  ...['identifier', 'error', 'german', 'cjk'],
] as const

const SPEAKERS: Readonly<Record<string, Turn['by']>> = {
  U: 'user',
  A: 'assistant',
  C: 'call',
  R: 'result',
}

/**
 * Reads all scenarios of `scenarios/*.txt`.
 *
 * A family starts with `= name | topic | title`; `U`, `A`, `C` and `R` mark its turns, `S` its summary. Each
 * line `% slot=value | …` is one conversation of the family, whose `{slots}` are filled in; `? kind | text`
 * belongs to the conversation before it, or to the only one.
 */
export function readScenarios(): Scenario[] {
  const folder = join(import.meta.dirname, 'scenarios')
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const files = readdirSync(folder)
    .toSorted()
    .filter((file) => file !== OWN_WORDS)
  const scenarios = files.flatMap((file) => read(file).split(/^= /m).slice(1).flatMap(readFamily))
  for (const line of read(OWN_WORDS).trim().split('\n')) addOwnWords(scenarios, line)
  return scenarios
}

/** Lines of `family#number | text`, written from the subject of a conversation without looking at its words. */
const OWN_WORDS = 'own-words.txt'

function addOwnWords(scenarios: readonly Scenario[], line: string): void {
  const [place = '', text = ''] = line.split(' | ')
  const [family, number = '0'] = place.split('#')
  const scenario = scenarios.filter((one) => one.family === family)[Number(number)]
  if (!scenario) throw new Error(`Cannot label a query: there is no conversation ${place}`)
  scenario.queries.push({ kind: 'own words', text })
}

function readFamily(text: string): Scenario[] {
  const [head = '', ...lines] = text.trim().split('\n')
  const [family = '', topic = '', title = ''] = head.split('|').map((part) => part.trim())
  const turns = lines.filter((line) => line[0]! in SPEAKERS).map(toTurn)
  const summary = lines.find((line) => line.startsWith('S '))?.slice(2) ?? ''
  const members = splitBefore(lines, (line) => line.startsWith('% ')).filter((part) => part.some(isQuery))
  return members.map((part) => {
    const slots = readSlots(part.find((line) => line.startsWith('% ')) ?? '')
    const fill = (words: string) => fillSlots(words, slots)
    const filled = turns.map(({ by, text: words }) => ({ by, text: fill(words) }))
    const queries = part.filter(isQuery).map(toQuery)
    return { family, topic, title: fill(title), summary: fill(summary), turns: filled, queries }
  })
}

const isQuery = (line: string) => line.startsWith('? ')

function toTurn(line: string): Turn {
  return { by: SPEAKERS[line[0]!]!, text: line.slice(2) }
}

function toQuery(line: string): LabelledQuery {
  const at = line.indexOf('|')
  return { kind: line.slice(2, at).trim(), text: line.slice(at + 1).trim() }
}

function readSlots(line: string): Map<string, string> {
  const pairs = line
    .slice(2)
    .split(' | ')
    .filter((pair) => pair.includes('='))
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

/** Replaces each `{slot}`; one without a value stays, because code contains braces, too. */
export function fillSlots(text: string, slots: ReadonlyMap<string, string>): string {
  return text.replace(/\{([\p{L}\d]+)\}/gu, (whole, name: string) => slots.get(name) ?? whole)
}

/**
 * Splits the lines before each matching line and drops those before the first; without a match it returns all
 * lines as one part.
 */
function splitBefore(lines: readonly string[], begins: (line: string) => boolean): string[][] {
  const starts = lines.flatMap((line, at) => (begins(line) ? [at] : []))
  return starts.length === 0 ? [[...lines]] : starts.map((start, at) => lines.slice(start, starts[at + 1]))
}
