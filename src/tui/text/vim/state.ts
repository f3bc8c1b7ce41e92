/** The state of the vim keys in the prompt. Replaced, never mutated. */
export interface Vim {
  mode: 'insert' | 'normal'
  /** The typed keys of a command that is not complete, such as `2d`. */
  pending: string
  /** The last `f`, `t`, `F` or `T`, which `;` and `,` repeat. */
  find: VimFind | undefined
  /** The text that `p` puts. */
  register: VimRegister
  /** The last change, which `.` repeats. */
  change: VimChange | undefined
  /** The change that the current insert belongs to; undefined when it cannot be repeated. */
  recording: VimChange | undefined
  /** The length of the undo stack at the start of the current insert, which is one step for `u`. */
  undoDepth: number
}

/** A search for a character in the line. */
export interface VimFind {
  kind: 'f' | 't' | 'F' | 'T'
  char: string
}

/** A deleted or yanked text. `isLinewise` texts are put as whole lines, and end with a line feed. */
export interface VimRegister {
  text: string
  isLinewise: boolean
}

/** A command with the text that was typed after it. */
export interface VimChange {
  keys: string
  inserted: string
}

/** The vim keys of an empty prompt: text can be typed immediately. */
export const NEW_VIM: Vim = {
  mode: 'insert',
  pending: '',
  find: undefined,
  register: { text: '', isLinewise: false },
  change: undefined,
  recording: undefined,
  undoDepth: 0,
}
