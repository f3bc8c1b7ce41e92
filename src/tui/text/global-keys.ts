import type { ChatEffect } from '../state/effects.ts'
import type { KeyPress } from './key.ts'

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
