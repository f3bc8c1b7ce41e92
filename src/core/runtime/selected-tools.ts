import { MAX_SELECTED_TOOLS } from '../base/tool-limits.ts'

/**
 * Marks tools as used: returns the names ordered from least to most recently used, at most
 * MAX_SELECTED_TOOLS. The least recently used names are evicted. The result does not depend on how the uses
 * are divided into calls.
 */
export function withUsed(before: readonly string[], used: readonly string[]): string[] {
  const names = new Set(before)
  for (const name of used) {
    names.delete(name)
    names.add(name)
  }
  return [...names].slice(-MAX_SELECTED_TOOLS)
}

/**
 * The tools that a conversation has selected, while a turn runs on it; changes are stored with the turn's
 * steps.
 */
export class SelectedTools {
  #names: readonly string[]
  #unstored: readonly string[] = []

  constructor(names: readonly string[]) {
    this.#names = names
  }

  /** Least recently used first, at most MAX_SELECTED_TOOLS. */
  get names(): readonly string[] {
    return this.#names
  }

  /** Selects tools, or marks them as used; returns the names that were evicted for them. */
  use(names: readonly string[]): string[] {
    const before = this.#names
    this.#names = withUsed(before, names)
    if (before.length === this.#names.length && before.every((name, i) => name === this.#names[i])) return []
    this.#unstored = withUsed(this.#unstored, names)
    return before.filter((name) => !this.#names.includes(name))
  }

  /**
   * Returns the uses since the last call, to be stored in the session: replayed after the stored ones, they
   * produce the current names.
   */
  takeUnstored(): readonly string[] {
    const unstored = this.#unstored
    this.#unstored = []
    return unstored
  }
}
