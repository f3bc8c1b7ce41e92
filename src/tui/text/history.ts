import { type Editor, moveTo, replaceAll } from './editor.ts'
import { type FoldedText, foldPastes } from './fold-pastes.ts'
import { holdPaste, type Pastes } from './pastes.ts'

/** A text as it was sent, and the parts of it that were pasted and shown as placeholders: nobody typed these. */
export interface SentText {
  text: string
  pasted: readonly string[]
}

/** What was sent before, and how far back somebody looks at the moment. */
export interface PromptHistory {
  /** Oldest first. */
  sent: readonly string[]
  /** What was pasted into those that hold pastes, by their text. */
  pasted: ReadonlyMap<string, readonly string[]>
  /** Which entry is in the prompt; undefined for the draft. */
  at: number | undefined
  /** What stood in the prompt where it was left, with its placeholders: edited entries, and the draft at the end. */
  left: ReadonlyMap<number, string>
}

export const EMPTY_HISTORY: PromptHistory = { sent: [], pasted: new Map(), at: undefined, left: new Map() }

const MOST_SENT = 1_000
/** Longer entries come back as a placeholder. */
const MOST_SHOWN_CHARS = 20_000

/** The history with something that was sent; what was just sent is not there twice. */
export function addSent(history: PromptHistory, { text, pasted }: SentText): PromptHistory {
  const isNew = text.trim() !== '' && history.sent.at(-1) !== text
  const sent = isNew ? [...history.sent, text].slice(-MOST_SENT) : history.sent
  return {
    sent,
    pasted: keepPasted(sent, [...history.pasted, [text, pasted]]),
    at: undefined,
    left: new Map(),
  }
}

/** The history with what earlier runs have sent in front. */
export function withEarlier(history: PromptHistory, earlier: readonly SentText[]): PromptHistory {
  const by = earlier.length
  const at = history.at === undefined ? undefined : history.at + by
  const left = new Map([...history.left].map(([index, text]) => [index + by, text]))
  const sent = [...earlier.map(({ text }) => text), ...history.sent]
  const before = earlier.map(({ text, pasted }) => [text, pasted] as const)
  return { sent, pasted: keepPasted(sent, [...before, ...history.pasted]), at, left }
}

/** One entry back, or forth; undefined when there is none. What was in the prompt is kept for the way back. */
export function walkHistory<E extends Editor & { history: PromptHistory }>(
  editor: E,
  by: -1 | 1,
): E | undefined {
  const { sent, at = sent.length, left } = editor.history
  const next = at + by
  if (next < 0 || next > sent.length) return undefined
  const kept = new Map(left).set(at, editor.text)
  const history = { ...editor.history, at: next === sent.length ? undefined : next, left: kept }
  const known = kept.get(next)
  const shown = known === undefined ? showSent(editor, sent[next] ?? '') : replaceAll(editor, known)
  const firstEnd = shown.text.indexOf('\n')
  return { ...moveTo(shown, by < 0 && firstEnd >= 0 ? firstEnd : shown.text.length), history }
}

/** A text that was sent in place of the draft, what was pasted into it as placeholders again. */
export function showSent<E extends Editor & { history: PromptHistory }>(editor: E, text: string): E {
  return showFolded(editor, foldSent(editor, text))
}

/** A text that was sent, with placeholders for what was pasted into it, or for all of it when it is very long. */
export function foldSent(
  { history, pastes }: { history: PromptHistory; pastes: Pastes },
  text: string,
): FoldedText {
  return foldWholeIfLong(foldPastes(text, history.pasted.get(text) ?? [], pastes), text, pastes)
}

/** A folded text in place of the draft. */
export function showFolded<E extends Editor>(editor: E, { text, pastes }: FoldedText): E {
  return replaceAll({ ...editor, pastes }, text)
}

/** A folded text, or one placeholder for all of it when it is still very long. */
export function foldWholeIfLong(folded: FoldedText, text: string, pastes: Pastes): FoldedText {
  const held = folded.text.length > MOST_SHOWN_CHARS ? holdPaste(pastes, text) : undefined
  return held ? { text: held.placeholder, pastes: held.pastes } : folded
}

/** What was pasted once stays so, also when the same text is sent again. */
function keepPasted(
  sent: readonly string[],
  entries: readonly (readonly [string, readonly string[]])[],
): PromptHistory['pasted'] {
  const kept = entries.filter(([, pasted]) => pasted.length > 0)
  const known = kept.length === 0 ? undefined : new Set(sent)
  return new Map(kept.filter(([text]) => known?.has(text)))
}

/** What was sent, newest first, each text once. */
export function newestFirst({ sent }: PromptHistory): string[] {
  return [...new Set(sent.toReversed())]
}
