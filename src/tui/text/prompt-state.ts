import type { ChatEffect, KeyResult } from '../state/effects.ts'
import { type Editor, EMPTY_EDITOR } from './editor.ts'
import { type FoldedText, foldEdited, pastedParts } from './fold-pastes.ts'
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
import { cleanInput, expandPastes } from './pastes.ts'

/** The input line: what is typed, what was sent before, and what is open under it. Replaced, never changed. */
export interface Prompt extends Editor {
  history: PromptHistory
  menu: Menu | undefined
  /** Where the word begins whose menu was closed: it stays closed. */
  closedAt: number | undefined
  /** The same key again clears the draft, or leaves. */
  armed: 'clear' | 'leave' | undefined
}

/** What the prompt must know to understand a key. */
export interface PromptContext {
  /** A turn runs: Enter steers, Tab queues. */
  isBusy: boolean
  /** The running turn was interrupted and has not ended yet: Ctrl+C may leave. */
  isCancelling?: boolean
  columns: number
  /** The placeholder of an empty prompt; absent: that of a message. */
  placeholder?: string
  /** A question is on the screen: every sign that is typed is text, `?` too. */
  hasCard?: boolean
  /** For the menu of `/`. */
  commands?: readonly CommandEntry[]
}

export type PromptKeyResult = KeyResult<Prompt>

export const EMPTY_PROMPT: Prompt = {
  ...EMPTY_EDITOR,
  history: EMPTY_HISTORY,
  menu: undefined,
  closedAt: undefined,
  armed: undefined,
}

/** What stands in front makes it something else than a message: `!` a line for the shell, `#` a note for the memory. */
export function getSign(prompt: Prompt): '!' | '#' | undefined {
  if (prompt.text.startsWith('!')) return '!'
  return prompt.text.startsWith('#') && isNote(fullPromptText(prompt)) ? '#' : undefined
}

/** One line behind a `#`; a heading, the number of an issue and the first line of a script are something else. */
export function isNote(text: string): boolean {
  return /^#(?![#!\d])[^\n]*$/.test(text.trimEnd())
}

/** The text as it would be sent, pastes and all. */
export function fullPromptText({ text, pastes }: Prompt): string {
  return expandPastes(text, pastes)
}

/**
 * The prompt with what an editor made of its text: `before` is the prompt the editor was given, `now` the one there is
 * since. What was pasted stays a placeholder; what came back in front of the draft meanwhile stays there.
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

/** Texts that were not sent, back in front of the draft; what was pasted into them is a placeholder again. */
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

/** A text that was sent before, in the place of the draft. */
export function withSent(prompt: Prompt, text: string): Prompt {
  return { ...showSent(prompt, text), menu: undefined, armed: undefined }
}

/** What of a text that was sent was pasted into it, not typed. */
export function findPasted({ history }: Prompt, text: string): readonly string[] {
  return history.pasted.get(text) ?? []
}

/** What earlier runs have sent, oldest first, for Up and Ctrl+R. */
export function withHistory(prompt: Prompt, earlier: readonly SentText[]): Prompt {
  return { ...prompt, history: withEarlier(prompt.history, earlier) }
}

function shown(prompt: Prompt, folded: FoldedText): Prompt {
  return { ...showFolded(prompt, folded), menu: undefined, armed: undefined }
}

/** What was found for the effect `complete`; too late for its query it changes nothing. */
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

/** The same entry as before, where more have been found since. */
function findSelected(menu: Menu | undefined, entries: readonly MenuEntry[]): number {
  const before = menu && menu.selected > 0 ? menu.entries[menu.selected]?.value : undefined
  return Math.max(0, before === undefined ? 0 : entries.findIndex(({ value }) => value === before))
}

/** The prompt with the menu that commands which are known by now make. */
export function withCommands(prompt: Prompt, commands: readonly CommandEntry[]): Prompt {
  const token = tokenAt(prompt)
  if (token?.kind !== 'command' || token.start === prompt.closedAt) return prompt
  const { query } = token
  const entries = findCommands(commands, query)
  const menu = { kind: 'command' as const, query, entries, selected: findSelected(prompt.menu, entries) }
  return { ...prompt, menu: entries.length === 0 ? undefined : menu }
}

/** Something that fits what stands behind an `@`: a path, or what a server has. */
export interface Completion {
  value: string
  /** Beside it, dim. */
  detail?: string
}

/** A prompt that was pressed, and what that asks for. */
export function toKeyResult(state: Prompt, ...effects: readonly ChatEffect[]): PromptKeyResult {
  return { state, effects }
}
