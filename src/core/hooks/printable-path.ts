import { toVisible } from '../base/visible.ts'

/**
 * A path as an answer names it: one in which a terminal, or a model, would not see a character stands as JSON, with that
 * character as an escape. File names may hold line feeds, and what a terminal obeys.
 */
export function toPrintablePath(path: string): string {
  const isPlain = !path.includes('\n') && toVisible(path) === path
  return isPlain ? path : toVisible(JSON.stringify(path))
}
