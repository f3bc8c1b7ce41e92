import { toVisible } from '../base/visible.ts'

/**
 * Formats a path for an answer: a path with characters that a terminal or a model would not show is quoted as
 * JSON, with those characters escaped. File names may contain line feeds and control sequences.
 */
export function toPrintablePath(path: string): string {
  const isPlain = !path.includes('\n') && toVisible(path) === path
  return isPlain ? path : toVisible(JSON.stringify(path))
}
