import type { ChatSearchScope } from '../search/types.ts'

/** A request from a key that needs more than a state change; the controller carries it out. */
export type ChatEffect =
  /** Enter: a message, a steer, a slash command, or a shell line. */
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
  /** The completion menu needs entries for the text before the caret. */
  | { type: 'complete'; kind: 'file' | 'command'; query: string }
  | { type: 'cycle-mode' }
  | { type: 'toggle-thinking' }
  | { type: 'toggle-details' }
  | { type: 'open-transcript' }
  /**
   * `answers` maps each question to a label, as `reply_to_ask` expects. `arguments` are those with which a
   * permitted call runs, when the user has changed them.
   */
  | { type: 'answer'; askId: string; answers: Readonly<Record<string, string>>; arguments?: string }
  /** An option was chosen in a picker. */
  | {
      type: 'chosen'
      picker: string
      value: string
      key?: string | undefined
      /** The place to which the choice applies, in a picker with targets. */
      target?: string
      /** The level that was chosen with the item; empty for the default. */
      level?: string
    }
  | { type: 'command'; line: string }
  /** Opens a search, which gets the keys immediately. */
  | { type: 'open-search'; scope: ChatSearchScope; query: string }
  /**
   * Runs the open search: debounced when the query `isTyped`, because more may follow, otherwise immediately.
   */
  | { type: 'search'; isTyped: boolean }
  /** Replaces the draft with a text that was sent before. */
  | { type: 'insert'; text: string }

/** The result of a key: the new state of the focused part, and the requested effects. */
export interface KeyResult<T> {
  state: T
  effects: readonly ChatEffect[]
}
