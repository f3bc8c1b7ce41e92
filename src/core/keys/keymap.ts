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
  /** The state of the chat in which the chord has this meaning, before rows without one. */
  when?: KeyCondition
  group: 'send' | 'chat' | 'edit' | 'move'
}

/** `turn`: a turn is running. `empty`: the composer is empty and no card is on the screen. */
export type KeyCondition = 'turn' | 'empty'

/** The key table of the prompt. */
export const KEYMAP = [
  { name: 'submit', keys: ['enter'], summary: 'send; steer while a turn runs', group: 'send' },
  {
    name: 'line-break',
    keys: ['shift+enter', 'alt+enter', 'ctrl+j'],
    summary: 'insert a new line; so does \\ and Enter',
    group: 'send',
  },
  { name: 'queue', keys: ['tab'], summary: 'accept a suggestion; queue while a turn runs', group: 'send' },
  { name: 'take-queue-back', keys: ['alt+up'], summary: 'edit the queued messages', group: 'send' },
  {
    name: 'escape',
    keys: ['escape'],
    summary: 'close the menu; interrupt; twice: clear the draft, or go back to a message',
    group: 'chat',
  },
  { name: 'cancel', keys: ['ctrl+c'], summary: 'interrupt; clear the draft; twice: leave', group: 'chat' },
  {
    name: 'delete-or-leave',
    keys: ['ctrl+d'],
    summary: 'leave when the prompt is empty, else delete',
    group: 'chat',
  },
  { name: 'cycle-mode', keys: ['shift+tab'], summary: 'next approval mode', group: 'chat' },
  {
    name: 'search-history',
    keys: ['ctrl+r'],
    summary: 'search sent messages, conversations and the memory',
    group: 'chat',
  },
  { name: 'open-transcript', keys: ['ctrl+o'], summary: 'the whole transcript, with details', group: 'chat' },
  { name: 'toggle-thinking', keys: ['ctrl+t'], summary: 'thinking on or off', group: 'chat' },
  { name: 'edit-externally', keys: ['ctrl+g'], summary: 'edit the draft in $EDITOR', group: 'chat' },
  { name: 'paste', keys: ['ctrl+v'], summary: 'paste an image or text', group: 'chat' },
  {
    name: 'background-turn',
    keys: ['ctrl+b'],
    summary: 'during a turn: put it into the background',
    when: 'turn',
    group: 'chat',
  },
  {
    name: 'open-agents',
    keys: ['left'],
    summary: 'when the prompt is empty: what all agents do',
    when: 'empty',
    group: 'chat',
  },
  { name: 'redraw', keys: ['ctrl+l'], summary: 'redraw the screen', group: 'chat' },
  { name: 'suspend', keys: ['ctrl+z'], summary: 'suspend; fg resumes', group: 'chat' },
  { name: 'up', keys: ['up', 'ctrl+p'], summary: 'previous line, then older history', group: 'move' },
  { name: 'down', keys: ['down', 'ctrl+n'], summary: 'next line, then newer history', group: 'move' },
  { name: 'left', keys: ['left', 'ctrl+b'], summary: 'one character back', group: 'move' },
  { name: 'right', keys: ['right', 'ctrl+f'], summary: 'one character forward', group: 'move' },
  {
    name: 'word-left',
    keys: ['alt+b', 'ctrl+left', 'alt+left'],
    summary: 'one word back',
    group: 'move',
  },
  {
    name: 'word-right',
    keys: ['alt+f', 'ctrl+right', 'alt+right'],
    summary: 'one word forward',
    group: 'move',
  },
  { name: 'row-start', keys: ['home'], summary: 'start of the row', group: 'move' },
  { name: 'row-end', keys: ['end'], summary: 'end of the row', group: 'move' },
  { name: 'line-start', keys: ['ctrl+a'], summary: 'start of the line', group: 'move' },
  { name: 'line-end', keys: ['ctrl+e'], summary: 'end of the line', group: 'move' },
  { name: 'text-start', keys: ['alt+<', 'ctrl+home'], summary: 'start of the draft', group: 'move' },
  { name: 'text-end', keys: ['alt+>', 'ctrl+end'], summary: 'end of the draft', group: 'move' },
  {
    name: 'delete-back',
    keys: ['backspace', 'ctrl+h', 'shift+backspace'],
    summary: 'delete the previous character',
    group: 'edit',
  },
  { name: 'delete', keys: ['delete'], summary: 'delete the next character', group: 'edit' },
  {
    name: 'kill-word-back',
    keys: ['alt+backspace', 'ctrl+backspace'],
    summary: 'cut the previous word',
    group: 'edit',
  },
  {
    name: 'kill-word',
    keys: ['alt+d', 'alt+delete', 'ctrl+delete'],
    summary: 'cut the next word',
    group: 'edit',
  },
  { name: 'kill-blank-word-back', keys: ['ctrl+w'], summary: 'cut back to a space', group: 'edit' },
  { name: 'kill-line-back', keys: ['ctrl+u'], summary: 'cut to the start of the line', group: 'edit' },
  { name: 'kill-line', keys: ['ctrl+k'], summary: 'cut to the end of the line', group: 'edit' },
  { name: 'yank', keys: ['ctrl+y'], summary: 'paste what was cut', group: 'edit' },
  { name: 'yank-pop', keys: ['alt+y'], summary: 'after Ctrl+Y: paste an earlier cut', group: 'edit' },
  { name: 'transpose', keys: ['alt+t'], summary: 'swap two characters', group: 'edit' },
  { name: 'undo', keys: ['ctrl+_', 'ctrl+-', 'ctrl+/'], summary: 'undo', group: 'edit' },
  { name: 'expand-paste', keys: ['ctrl+x'], summary: 'show a [Pasted …] in full', group: 'edit' },
  { name: 'redo', keys: ['alt+_', 'alt+-', 'alt+/'], summary: 'redo', group: 'edit' },
] as const satisfies readonly KeyBinding[]

/** Formats a chord for the user: `ctrl+shift+a` becomes `Ctrl+Shift+A`. */
export function showChord(chord: string): string {
  return chord
    .split(/\+(?=.)/)
    .map((part) => SHOWN[part] ?? part.charAt(0).toUpperCase() + part.slice(1))
    .join('+')
}

const SHOWN: Readonly<Record<string, string>> = { escape: 'Esc', backspace: 'Backspace' }
