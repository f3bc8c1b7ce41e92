import { toTypedText } from '../../core/base/typed-message.ts'
import type { ChatState } from './types.ts'

/**
 * Returns the typed text of the first steer with this content; for one of another client, what
 * its user entered.
 */
export function findTypedText({ steers }: ChatState, content: string): string {
  return steers.find((steer) => steer.content === content)?.text ?? toTypedText(content)
}

/** Removes the first steer with this content. */
export function withoutSteer(state: ChatState, content: string): ChatState {
  const at = state.steers.findIndex((steer) => steer.content === content)
  return at < 0 ? state : { ...state, steers: state.steers.toSpliced(at, 1) }
}

/** Sets what was sent of the first steer with this text that is still prepared; adds one if there is none. */
export function withSentSteer(state: ChatState, steer: { text: string; content: string }): ChatState {
  const at = state.steers.findIndex(({ text, content }) => text === steer.text && content === undefined)
  const { text, content } = steer
  return { ...state, steers: state.steers.toSpliced(at < 0 ? Infinity : at, 1, { text, content }) }
}

/** Removes the first steer that was typed as this text. */
export function withoutTypedSteer(state: ChatState, typed: string): ChatState {
  const at = state.steers.findIndex(({ text }) => text === typed)
  return at < 0 ? state : { ...state, steers: state.steers.toSpliced(at, 1) }
}

/** Whether this chat has sent a steer with this content. */
export function isOurs({ steers }: ChatState, content: string): boolean {
  return steers.some((steer) => steer.content === content)
}
