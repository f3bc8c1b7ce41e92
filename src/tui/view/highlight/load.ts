import type { Highlight } from '../view.ts'

/** Loads the highlighter, about 30 ms and 200 KB that a chat without code does not need. */
export async function loadHighlight(): Promise<Highlight> {
  const { makeHighlight } = await import('./highlighter.ts')
  return makeHighlight()
}
