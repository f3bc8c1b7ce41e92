import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { NewLine } from '../../src/core/storage/types.ts'
import type { HistorySession } from './history.ts'
import type { LabelledQuery, Turn } from './scenarios.ts'

/** The labelled set as it is checked in. */
export const SET_FILE = join(import.meta.dirname, 'history.jsonl.gz')

/** A query, and the session that it is to find. */
export interface Label extends LabelledQuery {
  /** Place of the session in the history. */
  session: number
}

/** What is searched, and what for: one half to tune with, one to be looked at once. */
export interface LabelledSet {
  history: readonly HistorySession[]
  tuning: readonly Label[]
  heldOut: readonly Label[]
}

/** The set that is checked in; `make-set.ts` makes it. */
export function readSet(): LabelledSet {
  const lines = gunzipSync(readFileSync(SET_FILE)).toString().trimEnd().split('\n')
  const history = lines.map((line): HistorySession => JSON.parse(line))
  return { history, ...split(history) }
}

/**
 * Families go whole into the half that has fewer queries so far, in the order of their names' hashes, so that nothing
 * learnt of a family helps with another.
 */
function split(history: readonly HistorySession[]): { tuning: Label[]; heldOut: Label[] } {
  const families = Map.groupBy(
    history.flatMap(({ family, queries }, session) =>
      queries.map((query) => ({ ...query, session, family })),
    ),
    ({ family }) => family,
  )
  const halves: [Label[], Label[]] = [[], []]
  const inOrder = [...families].toSorted(([a], [b]) => hash(a) - hash(b) || (a < b ? -1 : 1))
  for (const [, labels] of inOrder.toSorted((a, b) => b[1].length - a[1].length)) {
    halves[halves[0].length <= halves[1].length ? 0 : 1].push(...labels)
  }
  return { tuning: halves[0], heldOut: halves[1] }
}

function hash(name: string): number {
  return [...name].reduce(
    (sum, letter) => Math.imul(sum ^ letter.codePointAt(0)!, 0x01000193) >>> 0,
    0x811c9dc5,
  )
}

/** The lines of a session as they are stored. */
export function linesOf({ turns, title, summary }: HistorySession): NewLine[] {
  const lines = turns.map((turn, at) => toLine(turn, at))
  const meta = { ...(title && { title }), ...(summary && { summary }) }
  return title || summary ? [...lines, { kind: 'meta', ...meta }] : lines
}

function toLine({ by, text }: Turn, at: number): NewLine {
  if (by === 'user' || by === 'assistant') return { kind: 'entry', role: by, content: text }
  if (by === 'result') return { kind: 'entry', role: 'tool', content: text, tool_call_id: `call_${at - 1}` }
  const [name = '', ...rest] = text.split(' ')
  const call = { id: `call_${at}`, name, arguments: rest.join(' ') }
  return { kind: 'entry', role: 'assistant', content: '', tool_calls: [call] }
}
