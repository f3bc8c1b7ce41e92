import { MAX_SELECTED_TOOLS } from '../base/tool-limits.ts'

/**
 * Names of tools with some of them used once more: longest unused first, the last one latest, never more than
 * MAX_SELECTED_TOOLS. What is left out is what was unused for longest, however the uses were cut into calls.
 */
export function withUsed(before: readonly string[], used: readonly string[]): string[] {
  const names = new Set(before)
  for (const name of used) {
    names.delete(name)
    names.add(name)
  }
  return [...names].slice(-MAX_SELECTED_TOOLS)
}

/** The tools that a conversation has selected, while a turn runs on it; what changes is stored with the turn's steps. */
export class SelectedTools {
  #names: readonly string[]
  #unstored: readonly string[] = []

  constructor(names: readonly string[]) {
    this.#names = names
  }

  /** Longest unused first, at most MAX_SELECTED_TOOLS. */
  get names(): readonly string[] {
    return this.#names
  }

  /** Selects tools, or notes that they are used; gives those that had to leave for them. */
  use(names: readonly string[]): string[] {
    const before = this.#names
    this.#names = withUsed(before, names)
    if (before.length === this.#names.length && before.every((name, i) => name === this.#names[i])) return []
    this.#unstored = withUsed(this.#unstored, names)
    return before.filter((name) => !this.#names.includes(name))
  }

  /** What was used since it was asked for last, for the session: replayed behind what is stored, it gives these names. */
  takeUnstored(): readonly string[] {
    const unstored = this.#unstored
    this.#unstored = []
    return unstored
  }
}
