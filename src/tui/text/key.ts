import type { Key } from 'ink'

/** A key as the chat understands it. `text` is what it types; empty for the named ones. */
export interface KeyPress {
  name: KeyName
  text: string
  ctrl: boolean
  alt: boolean
  shift: boolean
}

export type KeyName =
  | 'text'
  | 'enter'
  | 'tab'
  | 'escape'
  | 'backspace'
  | 'delete'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page-up'
  | 'page-down'
  /** Text that was pasted, line breaks as `\n`. */
  | 'paste'

/** What Ink heard, as a KeyPress; undefined for what is no key press (releases, focus reports). */
export function toKeyPress(input: string, key: Key): KeyPress | undefined {
  if (key.eventType === 'release') return undefined
  const named = NAMES.find(([flag]) => key[flag])
  const name: KeyName = named ? named[1] : 'text'
  return { name, text: name === 'text' ? input : '', ctrl: key.ctrl, alt: key.meta, shift: key.shift }
}

/** What was pasted, as a KeyPress. */
export function toPaste(text: string): KeyPress {
  const lines = text.replaceAll(/\r\n?/g, '\n')
  return { name: 'paste', text: lines, ctrl: false, alt: false, shift: false }
}

const NAMES = [
  ['return', 'enter'],
  ['tab', 'tab'],
  ['escape', 'escape'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['home', 'home'],
  ['end', 'end'],
  ['pageUp', 'page-up'],
  ['pageDown', 'page-down'],
] as const satisfies readonly (readonly [keyof Key, KeyName])[]
