import type { Keymap } from '../../core/keys/bindings.ts'
import { clearEditor, type Editor, EMPTY_EDITOR, replaceRange, settle } from './editor.ts'
import type { ChatEffect, KeyResult } from './effects.ts'
import { type FoldedText, foldEdited, foldPastes, pastedParts } from './fold-pastes.ts'
import {
  EMPTY_HISTORY,
  foldSent,
  foldWholeIfLong,
  type PromptHistory,
  type SentText,
  showFolded,
  showSent,
  withEarlier,
} from './history.ts'
import { type CommandEntry, findCommands, type Menu, type MenuEntry, tokenAt } from './menu.ts'
import { cleanInput, expandPastes, PLACEHOLDER } from './pastes.ts'
import type { Vim } from './vim/state.ts'

/** The input line: its text, the history, and the open menu. Replaced, never mutated. */
export interface Prompt extends Editor {
  history: PromptHistory
  menu: Menu | undefined
  /** The start of the word whose menu the user closed; it stays closed. */
  closedAt: number | undefined
  /** Set when the same key again clears the draft, lists the messages to go back to, or leaves. */
  armed: 'clear' | 'rewind' | 'leave' | undefined
  /** The pastes that were expanded in place: their text still does not count as typed. */
  expanded: readonly string[]
  /** The state of the vim keys; undefined with another key table. */
  vim?: Vim | undefined
}

/** The context in which the prompt interprets a key. */
export interface PromptContext {
  /** Whether a turn is running: Enter steers, Tab queues. */
  isBusy: boolean
  /** Whether the running turn was interrupted but has not ended yet: Ctrl+C may leave. */
  isCancelling?: boolean
  columns: number
  /** The placeholder of an empty prompt; by default the one for a message. */
  placeholder?: string
  /** Whether a question is on the screen. Every typed character is then text, even `?`. */
  hasCard?: boolean
  /** Whether the draft is an answer to a card, which Enter sends and Tab does not queue. */
  isAnswer?: boolean
  /** The active key table; by default that of the default preset. */
  keymap?: Keymap
  /** The entries of the `/` menu. */
  commands?: readonly CommandEntry[]
}

export type PromptKeyResult = KeyResult<Prompt>

export const EMPTY_PROMPT: Prompt = {
  ...EMPTY_EDITOR,
  history: EMPTY_HISTORY,
  menu: undefined,
  closedAt: undefined,
  armed: undefined,
  expanded: [],
}

/**
 * Returns the sign that makes the text something other than a message: `!` for a shell line, `#` for a note
 * to the memory.
 */
export function getSign(prompt: Prompt): '!' | '#' | undefined {
  if (prompt.text.startsWith('!')) return '!'
  return prompt.text.startsWith('#') && isNote(fullPromptText(prompt)) ? '#' : undefined
}

/**
 * Whether a text is a note: one line after a `#`. Headings, issue numbers and the first line of a script are
 * not notes.
 */
export function isNote(text: string): boolean {
  return /^#(?![#!\d])[^\n]*$/.test(text.trimEnd())
}

/** Returns the text as it would be sent, with its pastes expanded. */
export function fullPromptText({ text, pastes }: Prompt): string {
  return expandPastes(text, pastes)
}

/**
 * Applies the text that an external editor returned. `before` is the prompt the editor received, `now` the
 * current one. Pasted parts stay placeholders, and text that was returned in front of the draft meanwhile
 * stays there.
 */
export function withEdited(before: Prompt, now: Prompt, text: string): Prompt {
  const pasted = pastedParts(before.text, before.pastes)
  const clean = cleanInput(text)
  const edited = foldWholeIfLong(foldEdited(clean, pasted, now.pastes), clean, now.pastes)
  const front = now.text.endsWith(before.text)
    ? now.text.slice(0, now.text.length - before.text.length)
    : now.text
  const joint = front === '' || front.endsWith('\n') ? '' : '\n'
  return shown(now, { ...edited, text: front + joint + edited.text })
}

/** Puts unsent texts back in front of the draft, with their pasted parts as placeholders. */
export function withReturned(prompt: Prompt, texts: readonly string[]): Prompt {
  if (texts.length === 0) return prompt
  const { history } = prompt
  let pastes = prompt.pastes
  const folded = texts.map((text) => {
    const one = foldSent({ history, pastes }, text)
    pastes = one.pastes
    return one.text
  })
  return shown(prompt, { text: [...folded, ...(prompt.text === '' ? [] : [prompt.text])].join('\n'), pastes })
}

/** Puts a stored draft in front of the current one, with its pasted parts as placeholders. */
export function withDraft(prompt: Prompt, { text, pasted }: SentText): Prompt {
  const { pastes } = prompt
  const folded = foldWholeIfLong(foldPastes(text, pasted, pastes), text, pastes)
  const joined = prompt.text === '' ? folded.text : `${folded.text}\n${prompt.text}`
  return shown(prompt, { text: joined, pastes: folded.pastes })
}

/** Replaces the draft with a text that was sent before. */
export function withSent(prompt: Prompt, text: string): Prompt {
  return { ...showSent(prompt, text), menu: undefined, armed: undefined }
}

/** Returns the parts of a sent text that were pasted, not typed. */
export function findPasted({ history }: Prompt, text: string): readonly string[] {
  return history.pasted.get(text) ?? []
}

/** Returns the parts of the draft that were pasted, including those that were expanded and then edited. */
export function pastedDraft({ text, pastes, expanded }: Prompt): string[] {
  if (expanded.length === 0) return pastedParts(text, pastes)
  const folded = foldEdited(text, expanded, pastes)
  return pastedParts(folded.text, folded.pastes)
}

/** Replaces the placeholder at the caret, or the one before it, or else the first, with its paste. */
export function expandPaste(prompt: Prompt): Prompt {
  const { text, caret, pastes } = prompt
  const found = [...text.matchAll(new RegExp(PLACEHOLDER, 'gu'))]
  const place =
    found.find(({ index }) => index === caret) ?? found.findLast(({ index }) => index < caret) ?? found[0]
  const paste = place && pastes.get(place[0])
  if (!place || paste === undefined || PLACEHOLDER.test(paste)) return settle(prompt) // such text could forge a placeholder
  const edited = replaceRange(prompt, place.index, place.index + place[0].length, paste)
  return { ...edited, expanded: [...prompt.expanded, paste] }
}

/** Adds the texts that earlier runs have sent, oldest first, for Up and Ctrl+R. */
export function withHistory(prompt: Prompt, earlier: readonly SentText[]): Prompt {
  return { ...prompt, history: withEarlier(prompt.history, earlier) }
}

function shown(prompt: Prompt, folded: FoldedText): Prompt {
  return { ...showFolded(prompt, folded), menu: undefined, armed: undefined }
}

/** Applies the results of a `complete` effect. They are ignored when the query has changed since. */
export function withCompletions(
  prompt: Prompt,
  query: string,
  found: readonly (string | Completion)[],
): Prompt {
  const token = tokenAt(prompt)
  if (token?.kind !== 'file' || token.query !== query || token.start === prompt.closedAt) return prompt
  const entries = found.map((one) => {
    const { value, detail = '' } = typeof one === 'string' ? { value: one } : one
    return { value, label: value, detail, isWhole: false }
  })
  const menu = { kind: 'file' as const, query, entries, selected: findSelected(prompt.menu, entries) }
  return { ...prompt, menu: entries.length === 0 ? undefined : menu }
}

/** Returns the new index of the selected entry after more entries have been found. */
function findSelected(menu: Menu | undefined, entries: readonly MenuEntry[]): number {
  const before = menu && menu.selected > 0 ? menu.entries[menu.selected]?.value : undefined
  return Math.max(0, before === undefined ? 0 : entries.findIndex(({ value }) => value === before))
}

/** Rebuilds the command menu from the commands that are known now. */
export function withCommands(prompt: Prompt, commands: readonly CommandEntry[]): Prompt {
  const token = tokenAt(prompt)
  if (token?.kind !== 'command' || token.start === prompt.closedAt) return prompt
  const { query } = token
  const entries = findCommands(commands, query)
  const menu = { kind: 'command' as const, query, entries, selected: findSelected(prompt.menu, entries) }
  return { ...prompt, menu: entries.length === 0 ? undefined : menu }
}

/** Removes the text of a prompt that was used for something other than a message. */
export function withoutText(prompt: Prompt): Prompt {
  return closeMenus(clearEditor(prompt, { kill: false }))
}

/** Removes the text of a prompt, and keeps it on the kill ring. */
export function withKilledText(prompt: Prompt): Prompt {
  return closeMenus(clearEditor(prompt, { kill: true }))
}

function closeMenus(prompt: Prompt): Prompt {
  const vim = prompt.vim && {
    ...prompt.vim,
    mode: 'insert' as const,
    pending: '',
    undoDepth: 0,
    recording: undefined,
  }
  return { ...prompt, menu: undefined, closedAt: undefined, armed: undefined, expanded: [], vim }
}

/** A completion of the text after an `@`: a path, or a resource of a server. */
export interface Completion {
  value: string
  /** Shown beside it, dim. */
  detail?: string
}

/** Pairs the prompt after a key with the requested effects. */
export function toKeyResult(state: Prompt, ...effects: readonly ChatEffect[]): PromptKeyResult {
  return { state, effects }
}
