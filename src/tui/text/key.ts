import type { Key } from 'ink'

/** A key press. `text` is the character it types; empty for named keys. */
export interface KeyPress {
  name: KeyName
  text: string
  ctrl: boolean
  alt: boolean
  shift: boolean
}

/** The name of a key; `text` for keys that type a character. */
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
  /** Pasted text, with all line breaks converted to line feeds. */
  | 'paste'

/**
 * Converts Ink's input to key presses: several when Ink delivers fast typing in one piece, none for events
 * that are not key presses.
 */
export function toKeyPresses(input: string, key: Key): KeyPress[] {
  if (key.eventType === 'release' || key.super || key.hyper) return []
  const named = NAMES.find(([flag]) => key[flag])
  const { ctrl, meta: alt, shift } = key
  if (named?.[1] === 'escape' && alt) return [ESCAPE, ESCAPE] // Ink reports two quick Esc keys as Alt+Esc
  if (named) return [{ name: named[1], text: '', ctrl, alt, shift }]
  if (ctrl && !alt && TWINS[input]) return [{ ...ESCAPE, name: TWINS[input] }]
  if (ctrl || alt) return input === '' ? [] : [{ name: 'text', text: input, ctrl, alt, shift }]
  return input
    .split(CONTROLS)
    .filter(Boolean)
    .map((piece) => fromTyped(piece, shift))
}

/** Converts pasted text to a key press. */
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

const ESCAPE: KeyPress = { name: 'escape', text: '', ctrl: false, alt: false, shift: false }

/** Named keys that most terminals cannot distinguish from these letters with Ctrl. */
const TWINS: Readonly<Record<string, KeyName>> = { m: 'enter', i: 'tab', '[': 'escape', h: 'backspace' }

/** Matches each control character; the capture keeps it in the result of `split`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const CONTROLS = /([\u0000-\u001f\u007f])/

function fromTyped(piece: string, shift: boolean): KeyPress {
  const code = piece.charCodeAt(0)
  if (code >= 0x20 && code !== 0x7f) return { name: 'text', text: piece, ctrl: false, alt: false, shift }
  const name = CONTROL_NAMES[piece]
  if (name) return { ...ESCAPE, name }
  const letter = String.fromCharCode(code + (code > 0 && code <= 26 ? 0x60 : 0x40))
  return { name: 'text', text: letter, ctrl: true, alt: false, shift: false }
}

const CONTROL_NAMES: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\x7f': 'backspace',
  '\x1b': 'escape',
}
