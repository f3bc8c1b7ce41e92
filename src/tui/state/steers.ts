import type { ChatState } from './types.ts'

/** The first steer that was sent so, as it was typed; another client's as it was sent. */
export function findTypedText({ steers }: ChatState, content: string): string {
  return steers.find((steer) => steer.content === content)?.text ?? content
}

/** The state without the first steer that was sent so. */
export function withoutSteer(state: ChatState, content: string): ChatState {
  const at = state.steers.findIndex((steer) => steer.content === content)
  return at < 0 ? state : { ...state, steers: state.steers.toSpliced(at, 1) }
}

/** Whether this chat has sent a steer that says so. */
export function isOurs({ steers }: ChatState, content: string): boolean {
  return steers.some((steer) => steer.content === content)
}
