import { type Editor, moveTo, replaceAll } from './editor.ts'
import { expandPastes, holdPaste } from './pastes.ts'

/** What was sent before, and how far back somebody looks at the moment. */
export interface History {
  /** Oldest first. */
  sent: readonly string[]
  /** Which entry is in the prompt; undefined for the draft. */
  at: number | undefined
  /** What stood in the prompt where it was left: edited entries, and the draft at the end. */
  left: ReadonlyMap<number, string>
}

export const EMPTY_HISTORY: History = { sent: [], at: undefined, left: new Map() }

const MOST_SENT = 1_000
/** Longer entries come back as a placeholder. */
const MOST_SHOWN_CHARS = 20_000

/** The history with something that was sent; what was just sent is not there twice. */
export function addSent({ sent }: History, text: string): History {
  const isNew = text.trim() !== '' && sent.at(-1) !== text
  return { sent: isNew ? [...sent, text].slice(-MOST_SENT) : sent, at: undefined, left: new Map() }
}

/** The history with what earlier runs have sent in front. */
export function withEarlier(history: History, earlier: readonly string[]): History {
  const by = Math.max(0, earlier.length)
  const at = history.at === undefined ? undefined : history.at + by
  const left = new Map([...history.left].map(([index, text]) => [index + by, text]))
  return { sent: [...earlier, ...history.sent], at, left }
}

/** One entry back, or forth; undefined when there is none. What was in the prompt is kept for the way back. */
export function walkHistory<E extends Editor & { history: History }>(editor: E, by: -1 | 1): E | undefined {
  const { sent, at = sent.length, left } = editor.history
  const next = at + by
  if (next < 0 || next > sent.length) return undefined
  const kept = new Map(left).set(at, expandPastes(editor.text, editor.pastes))
  const text = kept.get(next) ?? sent[next] ?? ''
  const history = { sent, at: next === sent.length ? undefined : next, left: kept }
  const shown = showText(editor, text)
  const firstEnd = shown.text.indexOf('\n')
  return { ...moveTo(shown, by < 0 && firstEnd >= 0 ? firstEnd : shown.text.length), history }
}

/** The whole text in place of the draft; a very long one as a placeholder. */
export function showText<E extends Editor>(editor: E, text: string): E {
  const held = text.length > MOST_SHOWN_CHARS ? holdPaste(editor.pastes, text) : undefined
  if (held === undefined) return replaceAll(editor, text)
  return replaceAll({ ...editor, pastes: held.pastes }, held.placeholder)
}

/** Entries that hold the query, newest first, each once; all of them for an empty query. */
export function searchSent({ sent }: History, query: string): string[] {
  const wanted = query.toLowerCase()
  return [...new Set(sent.toReversed())].filter((text) => text.toLowerCase().includes(wanted))
}
