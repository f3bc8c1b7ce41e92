/** The modes that are set in a terminal, and the bytes that undo them when the chat ends in any way. */
export class TerminalModes {
  readonly #modes = new Set<string>()
  /** The bytes that undo what parts of the chat have set, such as the title of the window. */
  readonly #undo = new Map<string, string>()

  /** Remembers the modes that written bytes set or reset. */
  note(bytes: string): void {
    for (const [, mode = '', end] of bytes.matchAll(/\[(\?\d+)([hl])/g)) {
      if (end === 'h') this.#modes.add(mode)
      else this.#modes.delete(mode)
    }
    if (/\[>\d+u/.test(bytes)) this.#modes.add('kitty')
    if (/\[<\d*u/.test(bytes)) this.#modes.delete('kitty')
  }

  /** Replaces the bytes that undo what was set under a key; empty when nothing is left to undo. */
  setUndo(key: string, undo: string): void {
    if (undo === '') this.#undo.delete(key)
    else this.#undo.set(key, undo)
  }

  /** Returns the bytes that undo everything, and show the cursor. */
  restoring(): string {
    const kitty = this.#modes.has('kitty') ? '\u001b[<u' : ''
    const modes = ['?2004', '?1049'].filter((mode) => this.#modes.has(mode))
    const undo = [...this.#undo.values()].join('')
    return `${undo}${kitty}${modes.map((mode) => `\u001b[${mode}l`).join('')}\u001b[0m\u001b[?25h`
  }
}
