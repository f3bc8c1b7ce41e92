import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is asked, and how: QUERY_KINDS. */
export interface LabelledQuery {
  kind: string
  text: string
}

/** A conversation that somebody will look for, with the queries that are to find it. */
export interface Scenario {
  /** Of the family: conversations alike but for what their queries mean. All of a family are in one half. */
  family: string
  topic: string
  /** Empty: it has none. */
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

/** How people ask for what they remember. */
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
 * All scenarios of `scenarios/*.txt`.
 *
 * A family begins with `= name | topic | title`; `U`, `A`, `C` and `R` are its turns, `S` its summary. Each line
 * `% slot=value | …` is one conversation of it, whose `{slots}` are filled; `? kind | text` belongs to the conversation
 * before it, or to the only one.
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

/** `family#number | text` a line: written from what a conversation is about, without looking at its words. */
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

/** Each `{slot}` replaced; one that has no value stays, since code has braces as well. */
export function fillSlots(text: string, slots: ReadonlyMap<string, string>): string {
  return text.replace(/\{([\p{L}\d]+)\}/gu, (whole, name: string) => slots.get(name) ?? whole)
}

/** Without what stands before the first such line, unless there is none. */
function splitBefore(lines: readonly string[], begins: (line: string) => boolean): string[][] {
  const starts = lines.flatMap((line, at) => (begins(line) ? [at] : []))
  return starts.length === 0 ? [[...lines]] : starts.map((start, at) => lines.slice(start, starts[at + 1]))
}
