import { shownTitle } from '../../core/base/auto-title.ts'
import type { ChatState } from './types.ts'

/** Returns the title that the chat shows for a conversation: an automatic one unless the settings forbid it. */
export function titleFor(
  { settings }: Pick<ChatState, 'settings'>,
  info: { title: string; preview: string },
): string {
  return settings.titles === 'off' ? info.title : shownTitle(info)
}
