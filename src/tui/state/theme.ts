import { THEMES, type ThemeName } from '../../core/base/chat-settings.ts'
import { filterItems } from '../overlays/picker.ts'
import type { ChatState } from './types.ts'

/** Returns the theme to draw with: the selected one while the picker of themes is open, else that of the settings. */
export function getShownTheme({ overlay, settings }: Pick<ChatState, 'overlay' | 'settings'>): ThemeName {
  if (overlay?.kind !== 'picker' || overlay.picker !== 'theme') return settings.theme
  const selected = filterItems(overlay)[overlay.selected]?.value
  return THEMES.find((theme) => theme === selected) ?? settings.theme
}
