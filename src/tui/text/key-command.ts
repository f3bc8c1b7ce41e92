import { DEFAULT_CHAT_SETTINGS } from '../../core/base/chat-settings.ts'
import { CONDITIONS, type Keymap, makeKeymap } from '../../core/keys/bindings.ts'
import type { KeyCondition, KeymapCommand } from '../../core/keys/keymap.ts'
import type { KeyPress } from './key.ts'

/**
 * Returns the command of a key in the prompt while these conditions hold; undefined for keys that type text or
 * have no binding.
 */
export function findKeymapCommand(
  key: KeyPress,
  { commands, conditional } = DEFAULT_KEYMAP,
  holds: (condition: KeyCondition) => boolean = () => false,
): KeymapCommand | undefined {
  const chord = toChord(key)
  const when = CONDITIONS.find((condition) => conditional.get(condition)?.has(chord) && holds(condition))
  return (when && conditional.get(when)?.get(chord)) ?? commands.get(chord)
}

/**
 * Returns the key that other parts of the screen know: Esc for a key that is bound to `escape`, and Ctrl+C for
 * one that is bound to `cancel`.
 */
export function toKnownKey(key: KeyPress, keymap: Keymap): KeyPress {
  const command = findKeymapCommand(key, keymap)
  if (command === 'escape') return { name: 'escape', text: '', ctrl: false, alt: false, shift: false }
  if (command === 'cancel') return { name: 'text', text: 'c', ctrl: true, alt: false, shift: false }
  return key
}

/** Formats a key as the table writes it. */
export function toChord({ name, text, ctrl, alt, shift }: KeyPress): string {
  const isText = name === 'text'
  const modifiers = [ctrl && 'ctrl', alt && 'alt', shift && !isText && 'shift'].filter(Boolean)
  if (isText && modifiers.length === 0) return [...text].length === 1 ? text : '' // the word `up` is not the key
  return [...modifiers, isText ? text.toLowerCase() : name].join('+')
}

/** The key table without settings. */
const DEFAULT_KEYMAP: Keymap = makeKeymap(DEFAULT_CHAT_SETTINGS)
