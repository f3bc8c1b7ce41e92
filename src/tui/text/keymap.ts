import type { KeyPress } from './key.ts'

/** The name of a command in the prompt's key table. */
export type KeymapCommand = (typeof KEYMAP)[number]['name']

/** A row of the key table, from which `/help`, `?` and the documentation are generated. */
export interface KeyBinding {
  name: string
  /**
   * The chords, written like `ctrl+alt+left`: modifiers in this order, then the key. The first one is shown.
   */
  keys: readonly string[]
  /** The action, in a few words. */
  summary: string
  group: 'send' | 'chat' | 'edit' | 'move'
}

/** The key table of the prompt. */
export const KEYMAP = [
  { name: 'submit', keys: ['enter'], summary: 'send; steer while a turn runs', group: 'send' },
  {
    name: 'line-break',
    keys: ['shift+enter', 'alt+enter', 'ctrl+j'],
    summary: 'a new line; so does \\ and Enter',
    group: 'send',
  },
  { name: 'queue', keys: ['tab'], summary: 'take a suggestion; queue while a turn runs', group: 'send' },
  { name: 'take-queue-back', keys: ['alt+up'], summary: 'take the queue back', group: 'send' },
  {
    name: 'escape',
    keys: ['escape'],
    summary: 'close the menu; interrupt; twice: clear the draft',
    group: 'chat',
  },
  { name: 'cancel', keys: ['ctrl+c'], summary: 'interrupt; clear the draft; twice: leave', group: 'chat' },
  { name: 'delete-or-leave', keys: ['ctrl+d'], summary: 'leave when empty, else delete', group: 'chat' },
  { name: 'cycle-mode', keys: ['shift+tab'], summary: 'next approval mode', group: 'chat' },
  {
    name: 'search-history',
    keys: ['ctrl+r'],
    summary: 'search what was sent and said, and the memory',
    group: 'chat',
  },
  { name: 'open-transcript', keys: ['ctrl+o'], summary: 'everything, with details', group: 'chat' },
  { name: 'toggle-thinking', keys: ['ctrl+t'], summary: 'thinking on or off', group: 'chat' },
  { name: 'edit-externally', keys: ['ctrl+g'], summary: 'edit the draft in $EDITOR', group: 'chat' },
  { name: 'paste', keys: ['ctrl+v'], summary: 'paste an image or text', group: 'chat' },
  { name: 'redraw', keys: ['ctrl+l'], summary: 'draw the screen anew', group: 'chat' },
  { name: 'suspend', keys: ['ctrl+z'], summary: 'suspend; fg comes back', group: 'chat' },
  { name: 'up', keys: ['up', 'ctrl+p'], summary: 'line up, then back in history', group: 'move' },
  { name: 'down', keys: ['down', 'ctrl+n'], summary: 'line down, then forth in history', group: 'move' },
  { name: 'left', keys: ['left', 'ctrl+b'], summary: 'one character back', group: 'move' },
  { name: 'right', keys: ['right', 'ctrl+f'], summary: 'one character on', group: 'move' },
  {
    name: 'word-left',
    keys: ['alt+b', 'ctrl+left', 'alt+left'],
    summary: 'one word back',
    group: 'move',
  },
  { name: 'word-right', keys: ['alt+f', 'ctrl+right', 'alt+right'], summary: 'one word on', group: 'move' },
  { name: 'row-start', keys: ['home'], summary: 'start of the row', group: 'move' },
  { name: 'row-end', keys: ['end'], summary: 'end of the row', group: 'move' },
  { name: 'line-start', keys: ['ctrl+a'], summary: 'start of the line', group: 'move' },
  { name: 'line-end', keys: ['ctrl+e'], summary: 'end of the line', group: 'move' },
  { name: 'text-start', keys: ['alt+<', 'ctrl+home'], summary: 'start of the draft', group: 'move' },
  { name: 'text-end', keys: ['alt+>', 'ctrl+end'], summary: 'end of the draft', group: 'move' },
  {
    name: 'delete-back',
    keys: ['backspace', 'ctrl+h', 'shift+backspace'],
    summary: 'delete one character back',
    group: 'edit',
  },
  { name: 'delete', keys: ['delete'], summary: 'delete one character', group: 'edit' },
  {
    name: 'kill-word-back',
    keys: ['alt+backspace', 'ctrl+backspace'],
    summary: 'cut one word back',
    group: 'edit',
  },
  {
    name: 'kill-word',
    keys: ['alt+d', 'alt+delete', 'ctrl+delete'],
    summary: 'cut one word',
    group: 'edit',
  },
  { name: 'kill-blank-word-back', keys: ['ctrl+w'], summary: 'cut back to a blank', group: 'edit' },
  { name: 'kill-line-back', keys: ['ctrl+u'], summary: 'cut to the start of the line', group: 'edit' },
  { name: 'kill-line', keys: ['ctrl+k'], summary: 'cut to the end of the line', group: 'edit' },
  { name: 'yank', keys: ['ctrl+y'], summary: 'put back what was cut', group: 'edit' },
  { name: 'yank-pop', keys: ['alt+y'], summary: 'then: what was cut before', group: 'edit' },
  { name: 'transpose', keys: ['alt+t'], summary: 'swap two characters', group: 'edit' },
  { name: 'undo', keys: ['ctrl+_', 'ctrl+-', 'ctrl+/'], summary: 'undo', group: 'edit' },
  { name: 'redo', keys: ['alt+_', 'alt+-', 'alt+/'], summary: 'redo', group: 'edit' },
] as const satisfies readonly KeyBinding[]

/** Returns the command of a key in the prompt; undefined for keys that type text or have no binding. */
export function findKeymapCommand(key: KeyPress): KeymapCommand | undefined {
  const chord = toChord(key)
  return KEYMAP.find(({ keys }) => (keys as readonly string[]).includes(chord))?.name
}

/** Formats a key as the table writes it. */
export function toChord({ name, text, ctrl, alt, shift }: KeyPress): string {
  const isText = name === 'text'
  const modifiers = [ctrl && 'ctrl', alt && 'alt', shift && !isText && 'shift'].filter(Boolean)
  if (isText && modifiers.length === 0) return text
  return [...modifiers, isText ? text.toLowerCase() : name].join('+')
}

/** Formats a chord for the user: `ctrl+shift+a` becomes `Ctrl+Shift+A`. */
export function showChord(chord: string): string {
  return chord
    .split(/\+(?=.)/)
    .map((part) => SHOWN[part] ?? part.charAt(0).toUpperCase() + part.slice(1))
    .join('+')
}

const SHOWN: Readonly<Record<string, string>> = { escape: 'Esc', backspace: 'Backspace' }
