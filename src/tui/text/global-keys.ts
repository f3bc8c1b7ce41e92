import type { ChatEffect } from '../state/effects.ts'
import type { KeyPress } from './key.ts'

/** What a key asks for whatever has the focus, but the prompt, which has a table of its own; undefined for other keys. */
export function globalEffect({ ctrl, text }: KeyPress): ChatEffect | undefined {
  return ctrl ? EFFECTS.get(text.toLowerCase()) : undefined
}

const EFFECTS: ReadonlyMap<string, ChatEffect> = new Map<string, ChatEffect>([
  ['l', { type: 'redraw' }],
  ['z', { type: 'suspend' }],
])
