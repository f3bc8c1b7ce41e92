import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { NewLine } from '../../src/core/storage/types.ts'
import type { HistorySession } from './history.ts'
import type { LabelledQuery, Turn } from './scenarios.ts'

/** The labeled set as stored in the repository. */
export const SET_FILE = join(import.meta.dirname, 'history.jsonl.gz')

/** A query, and the session it should find. */
export interface Label extends LabelledQuery {
  /** The index of the session in the history. */
  session: number
}

/** The history and its labeled queries: one half for tuning, one held out for the final result. */
export interface LabelledSet {
  history: readonly HistorySession[]
  tuning: readonly Label[]
  heldOut: readonly Label[]
}

/** Reads the stored set, which make-set.ts creates. */
export function readSet(): LabelledSet {
  const lines = gunzipSync(readFileSync(SET_FILE)).toString().trimEnd().split('\n')
  const history = lines.map((line): HistorySession => JSON.parse(line))
  return { history, ...split(history) }
}

/**
 * Splits the labels into halves. A family goes completely into the half with fewer queries so far, largest
 * families first and then by the hash of the name, so that tuning on one family cannot help with another in
 * the other half.
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

/** Returns the stored lines of a session. */
export function toStoredLines({ turns, title, summary }: HistorySession): NewLine[] {
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
