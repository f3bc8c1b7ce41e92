import type { KeyResult } from '../text/effects.ts'
import { findEscAction } from '../text/esc-key.ts'
import type { KeyPress } from '../text/key.ts'
import type { Section } from '../view/section.ts'
import type { RenderContext, Room } from '../view/view.ts'
import { pressEntry, renderEntry } from './entry.ts'
import { globalEffect } from './keys.ts'
import { pressMenuOverlay, renderMenuOverlay } from './menu.ts'
import { pressPage, renderPage } from './page.ts'
import { pressPanel, renderPanel } from './panel.ts'
import { pressPicker, renderPicker } from './picker.ts'
import { pressSearch } from './search.ts'
import { renderSearch } from './search-view.ts'
import type { Overlay } from './types.ts'

/** Handles a key in an overlay; an undefined state closes it. Ctrl+C and Ctrl+D close it, like Esc. */
export function pressOverlay(overlay: Overlay, key: KeyPress, room: Room): KeyResult<Overlay | undefined> {
  const letter = key.ctrl ? key.text.toLowerCase() : ''
  if (letter === 'c' || letter === 'd') return { state: undefined, effects: [] }
  if (key.name === 'escape') return { state: escapeOverlay(overlay), effects: [] }
  const effect = globalEffect(key)
  if (effect) return { state: overlay, effects: [effect] }
  switch (overlay.kind) {
    case 'picker':
      return pressPicker(overlay, key, room)
    case 'panel':
      return pressPanel(overlay, key, room)
    case 'page':
      return pressPage(overlay, key, room)
    case 'search':
      return pressSearch(overlay, key, room)
    case 'menu':
      return pressMenuOverlay(overlay, key, room)
    case 'entry':
      return pressEntry(overlay, key)
  }
}

/** Returns the overlay after Esc; undefined when it closes. */
function escapeOverlay(overlay: Overlay): Overlay | undefined {
  const canReturn = findEscAction({ overlay }) === 'return-to-overlay'
  return canReturn && 'back' in overlay ? overlay.back : undefined
}

/** Renders the overlay, which replaces the prompt, in at most `view.rows - 6` lines, but at least 2. */
export function renderOverlay(overlay: Overlay, view: RenderContext): Section {
  switch (overlay.kind) {
    case 'picker':
      return renderPicker(overlay, view)
    case 'panel':
      return renderPanel(overlay, view)
    case 'page':
      return renderPage(overlay, view)
    case 'search':
      return renderSearch(overlay, view)
    case 'menu':
      return renderMenuOverlay(overlay, view)
    case 'entry':
      return renderEntry(overlay, view)
  }
}
