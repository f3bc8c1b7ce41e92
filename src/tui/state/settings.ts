import type { ChatSettings } from '../../core/base/chat-settings.ts'
import { NEW_VIM } from '../text/vim/state.ts'
import type { Settable } from './actions.ts'
import type { ChatState } from './types.ts'

/** Returns the change of the state that takes over settings; undefined when they are in force already. */
export function toSettingsChange(
  { prompt, settings: before }: Pick<ChatState, 'prompt' | 'settings'>,
  settings: ChatSettings,
): Partial<Settable> | undefined {
  if (JSON.stringify(before) === JSON.stringify(settings)) return undefined
  const vim = settings.keymap === 'vim' ? (prompt.vim ?? NEW_VIM) : undefined
  const isToggled = before.fullscreen !== settings.fullscreen
  return { settings, prompt: { ...prompt, vim }, ...(isToggled && { isFullscreen: settings.fullscreen }) }
}
