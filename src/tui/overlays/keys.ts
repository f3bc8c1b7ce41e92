import type { ChatEffect, KeyResult } from '../text/effects.ts'
import { toGraphemes } from '../text/graphemes.ts'
import type { KeyPress } from '../text/key.ts'
import { cleanLine } from '../view/clean.ts'
import type { PageAction } from './types.ts'

/** Handles the keys of a page or panel row, some of which must be pressed twice; undefined for other keys. */
export function pressAction(
  action: PageAction,
  { text, ctrl, alt }: KeyPress,
): KeyResult<PageAction> | undefined {
  const { picker, value, keys, asked } = action
  const pressed = keys.find(({ key }) => key === text && !ctrl && !alt)
  if (!pressed) return undefined
  const { key, confirm } = pressed
  if (confirm !== undefined && asked !== key) return { state: { ...action, asked: key }, effects: [] }
  return { state: { ...action, asked: undefined }, effects: [{ type: 'chosen', picker, value, key }] }
}

/** Describes the key that must be pressed again; undefined when there is none. */
export function confirmText({ keys, asked }: Pick<PageAction, 'keys' | 'asked'>): string | undefined {
  const again = keys.find(({ key }) => key === asked)
  return again && `${again.key} again to ${again.confirm} · any other key cancels`
}

/** Lists the keys and their actions. */
export function keysText({ keys }: Pick<PageAction, 'keys'>): string {
  return keys.map(({ key, label }) => `${key} ${label}`).join(' · ')
}

/**
 * Applies a key to a one-line text: types into it or deletes from its end. Returns the same line for any
 * other key.
 */
export function typeIntoLine(line: string, key: KeyPress): string {
  if (key.name === 'backspace') return toGraphemes(line).slice(0, -1).join('')
  if (key.ctrl) return key.text === 'u' ? '' : key.text === 'w' ? line.replace(/\S*\s*$/, '') : line
  return key.name === 'paste' || (key.name === 'text' && !key.alt) ? line + cleanLine(key.text) : line
}

/**
 * Returns the effect of a key that works in every focus except the prompt, which has its own key table;
 * undefined for other keys.
 */
export function globalEffect({ ctrl, text }: KeyPress): ChatEffect | undefined {
  return ctrl ? EFFECTS.get(text.toLowerCase()) : undefined
}

const EFFECTS: ReadonlyMap<string, ChatEffect> = new Map<string, ChatEffect>([
  ['l', { type: 'redraw' }],
  ['z', { type: 'suspend' }],
])
