import type { ChatSearchScope } from '../search/types.ts'

/** What a key asks for that is more than a change of state; the controller does it. */
export type ChatEffect =
  /** Enter: a message, a steer, a slash command, a shell line. */
  | { type: 'submit'; text: string }
  /** Tab while a turn runs. */
  | { type: 'queue'; text: string }
  | { type: 'take-queue-back' }
  | { type: 'interrupt' }
  | { type: 'leave' }
  | { type: 'suspend' }
  | { type: 'redraw' }
  | { type: 'edit-externally' }
  | { type: 'paste' }
  /** The completion menu wants its entries for what stands before the caret. */
  | { type: 'complete'; kind: 'file' | 'command'; query: string }
  | { type: 'cycle-mode' }
  | { type: 'toggle-thinking' }
  | { type: 'toggle-details' }
  | { type: 'open-transcript' }
  /** `answers` from question to label, as reply_to_ask takes it. */
  | { type: 'answer'; askId: string; answers: Readonly<Record<string, string>> }
  /** Something was chosen in a picker. */
  | { type: 'chosen'; picker: string; value: string; key?: string | undefined }
  | { type: 'command'; line: string }
  /** Opens a search; its keys are its own at once. */
  | { type: 'open-search'; scope: ChatSearchScope; query: string }
  /** The open search wants to know what there is for its words: at once, or in a moment when more may be typed. */
  | { type: 'search'; isTyped: boolean }
  /** A text that was sent before, in the place of the draft. */
  | { type: 'insert'; text: string }

/** What a key does: the new state of whatever has the focus, and what it asks for. */
export interface KeyResult<T> {
  state: T
  effects: readonly ChatEffect[]
}
