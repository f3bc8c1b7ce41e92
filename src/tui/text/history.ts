import { type Editor, moveTo, replaceAll } from './editor.ts'
import { type FoldedText, foldPastes } from './fold-pastes.ts'
import { holdPaste, type Pastes } from './pastes.ts'

/** A sent text, and its pasted parts that were shown as placeholders: the user did not type these. */
export interface SentText {
  text: string
  pasted: readonly string[]
}

/** The texts sent before, and the position of the user in them. */
export interface PromptHistory {
  /** Oldest first. */
  sent: readonly string[]
  /** The pasted parts of sent texts that contain any, by text. */
  pasted: ReadonlyMap<string, readonly string[]>
  /** The index of the entry in the prompt; undefined for the draft. */
  at: number | undefined
  /**
   * The prompt's text, with placeholders, at each index the user has left: edited entries, and the draft at
   * the end.
   */
  left: ReadonlyMap<number, string>
}

export const EMPTY_HISTORY: PromptHistory = { sent: [], pasted: new Map(), at: undefined, left: new Map() }

const MAX_SENT = 1_000
/** Longer entries are shown as one placeholder. */
const MAX_SHOWN_CHARS = 20_000

/** Adds a sent text, unless it equals the previous one. */
export function addSent(history: PromptHistory, { text, pasted }: SentText): PromptHistory {
  const isNew = text.trim() !== '' && history.sent.at(-1) !== text
  const sent = isNew ? [...history.sent, text].slice(-MAX_SENT) : history.sent
  return {
    sent,
    pasted: keepPasted(sent, [...history.pasted, [text, pasted]]),
    at: undefined,
    left: new Map(),
  }
}

/** Prepends the texts that earlier runs have sent. */
export function withEarlier(history: PromptHistory, earlier: readonly SentText[]): PromptHistory {
  const by = earlier.length
  const at = history.at === undefined ? undefined : history.at + by
  const left = new Map([...history.left].map(([index, text]) => [index + by, text]))
  const sent = [...earlier.map(({ text }) => text), ...history.sent]
  const before = earlier.map(({ text, pasted }) => [text, pasted] as const)
  return { sent, pasted: keepPasted(sent, [...before, ...history.pasted]), at, left }
}

/**
 * Moves one entry back or forward; undefined when there is none. The current text of the prompt is kept for
 * the return.
 */
export function walkHistory<E extends Editor & { history: PromptHistory }>(
  editor: E,
  by: -1 | 1,
): E | undefined {
  const { sent, at = sent.length, left } = editor.history
  const next = at + by
  if (next < 0 || next > sent.length) return undefined
  const visited = new Map(left).set(at, editor.text)
  const history = { ...editor.history, at: next === sent.length ? undefined : next, left: visited }
  const known = visited.get(next)
  const shown = known === undefined ? showSent(editor, sent[next] ?? '') : replaceAll(editor, known)
  const firstEnd = shown.text.indexOf('\n')
  return { ...moveTo(shown, by < 0 && firstEnd >= 0 ? firstEnd : shown.text.length), history }
}

/** Replaces the draft with a sent text, its pasted parts as placeholders. */
export function showSent<E extends Editor & { history: PromptHistory }>(editor: E, text: string): E {
  return showFolded(editor, foldSent(editor, text))
}

/** Folds a sent text: its pasted parts become placeholders, or the whole text does when it is very long. */
export function foldSent(
  { history, pastes }: { history: PromptHistory; pastes: Pastes },
  text: string,
): FoldedText {
  return foldWholeIfLong(foldPastes(text, history.pasted.get(text) ?? [], pastes), text, pastes)
}

/** Replaces the draft with a folded text. */
export function showFolded<E extends Editor>(editor: E, { text, pastes }: FoldedText): E {
  return replaceAll({ ...editor, pastes }, text)
}

/** Returns one placeholder for the whole text when the folded text is still very long. */
export function foldWholeIfLong(folded: FoldedText, text: string, pastes: Pastes): FoldedText {
  const held = folded.text.length > MAX_SHOWN_CHARS ? holdPaste(pastes, text) : undefined
  return held ? { text: held.placeholder, pastes: held.pastes } : folded
}

/**
 * Collects the pasted parts of the texts in the history. A text stays marked when it is sent again as typed
 * text.
 */
function keepPasted(
  sent: readonly string[],
  entries: readonly (readonly [string, readonly string[]])[],
): PromptHistory['pasted'] {
  const withPastes = entries.filter(([, pasted]) => pasted.length > 0)
  const known = withPastes.length === 0 ? undefined : new Set(sent)
  return new Map(withPastes.filter(([text]) => known?.has(text)))
}

/** Lists the sent texts, newest first, without duplicates. */
export function newestFirst({ sent }: PromptHistory): string[] {
  return [...new Set(sent.toReversed())]
}
