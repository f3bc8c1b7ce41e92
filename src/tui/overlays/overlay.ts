import type { Pressed } from '../state/effects.ts'
import type { KeyPress } from '../text/key.ts'
import type { Section } from '../view/section.ts'
import type { View } from '../view/view.ts'
import type { Overlay } from './types.ts'

/** What a key does to it; undefined state closes it. */
export function pressOverlay(overlay: Overlay, _key: KeyPress): Pressed<Overlay | undefined> {
  return { state: overlay, effects: [] }
}

/** The overlay as lines; it stands where the prompt stands otherwise. */
export function renderOverlay(_overlay: Overlay, _view: View): Section {
  return { lines: ['…'], cut: 'tail', rank: 8 }
}
